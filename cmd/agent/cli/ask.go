package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/server/client"
)

// AddSocketFlag adds --socket to a command and its subcommands.
func (a *App) AddSocketFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.Socket, "socket", "", "the agent's socket (default: paths.socket of the configuration)")
}

// Client returns a client of the agent that --socket or --config names. If neither flag is set and
// there is no configuration file, the client uses the default socket.
func (a *App) Client(cmd *cobra.Command) (*client.Client, error) {
	if a.Socket != "" {
		return client.New(a.Socket), nil
	}
	if !cmd.Flags().Changed("config") {
		if _, err := os.Stat(a.ConfigPath); errors.Is(err, fs.ErrNotExist) {
			return client.New(config.Default().Paths.Socket), nil
		}
	}
	cfg, err := a.LoadConfig(cmd.Context())
	if err != nil {
		return nil, fmt.Errorf("%w\nto ask the agent all the same, name its socket with --socket", err)
	}
	return client.New(cfg.Paths.Socket), nil
}
