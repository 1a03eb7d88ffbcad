package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) addSocketFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.socket, "socket", "", "the agent's socket (default: paths.socket of the configuration)")
}

// agentClient is a client of the agent that --socket or --config name. Where
// neither is given and there is no configuration, it is the default socket's.
func (a *app) agentClient(cmd *cobra.Command) (*client.Client, error) {
	if a.socket != "" {
		return client.New(a.socket), nil
	}
	if !cmd.Flags().Changed("config") {
		if _, err := os.Stat(a.configPath); errors.Is(err, fs.ErrNotExist) {
			return client.New(config.Default().Paths.Socket), nil
		}
	}
	cfg, err := a.loadConfig(cmd.Context())
	if err != nil {
		return nil, fmt.Errorf("%w\nto ask the agent all the same, name its socket with --socket", err)
	}
	return client.New(cfg.Paths.Socket), nil
}
