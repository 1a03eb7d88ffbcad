package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground",
		Long: "Runs the agent until it gets SIGTERM or SIGINT. Its pods keep running, and the next start adopts\n" +
			"them. The log goes to standard error. The agent applies a change of the configuration at once, and\n" +
			"on SIGHUP; the log names the keys that need a restart.",
		Example: "  wardlet run --config agent.toml",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked, stop := reloadSignals()
			defer stop()
			cfg, err := a.LoadConfig(cmd.Context())
			if err != nil {
				return err
			}
			logger, level := newLogger(a.ErrOut, cfg)
			node, err := agent.Open(cfg, agent.Options{
				Logger: logger, Version: version,
				Reload:    &reload.Reload{Path: a.ConfigPath, Level: level, Asked: asked},
				LookupEnv: os.LookupEnv,
			})
			if err != nil {
				return err
			}
			return node.Run(cmd.Context())
		},
	}
}

// newLogger returns the logger of a configuration, and the variable to change its level. The text
// handler quotes everything that is not printable; the JSON handler escapes only what JSON
// requires.
func newLogger(w io.Writer, cfg *config.Config) (*slog.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // config.Load has checked it
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(printable.JSONWriter{W: w}, options)), level
	}
	return slog.New(slog.NewTextHandler(w, options)), level
}
