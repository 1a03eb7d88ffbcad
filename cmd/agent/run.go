package main

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
)

func (a *app) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground",
		Long: "Runs the agent until it gets SIGTERM or SIGINT. Its pods run on without it, and the\n" +
			"next start takes them over. The log goes to standard error.",
		Example: "  wardlet run --config agent.toml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(a.configPath)
			if err != nil {
				return err
			}
			node, err := agent.New(cfg, agent.Options{Logger: newLogger(a.errOut, cfg), Version: version})
			if err != nil {
				return err
			}
			return node.Run(cmd.Context())
		},
	}
}

func newLogger(w io.Writer, cfg *config.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // config.Load has checked it
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
