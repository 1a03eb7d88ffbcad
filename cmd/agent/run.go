package main

import (
	"io"
	"log/slog"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) runCommand() *cobra.Command {
	kubelet := &kubeletFlags{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground",
		Long: "Runs the agent until it gets SIGTERM or SIGINT. Its pods keep running, and the next start adopts\n" +
			"them. The log goes to standard error. The agent applies a change of the configuration at once, and\n" +
			"on SIGHUP; the log names the keys that need a restart.\n\n" +
			"With --kubelet-config the agent reads the configuration of a kubelet, and agent.toml, if there is\n" +
			"one, adds to it. The log warns of what the agent does not honour.",
		Example: "  wardlet run --config agent.toml",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.run(cmd, kubelet)
		},
	}
	kubelet.add(cmd)
	return cmd
}

// run runs the agent.
func (a *app) run(cmd *cobra.Command, kubelet *kubeletFlags) error {
	asked, stop := reloadSignals()
	defer stop()
	cfg, warnings, err := kubelet.load(cmd.Context(), a, cmd)
	if err != nil {
		return err
	}
	logger, level := newLogger(a.ErrOut, cfg)
	for _, warning := range warnings {
		logger.Warn("the kubelet's configuration", "warning", warning)
	}
	if kubelet.given() {
		// As a kubelet does: its unit file need not set it.
		if err := os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(kubelet.oomScore)), 0); err != nil {
			logger.Warn("cannot set the agent's oom_score_adj; set OOMScoreAdjust in its unit file", "score", kubelet.oomScore, "err", err)
		}
	}
	again := &reload.Reload{Path: kubelet.followed(a, cmd), Level: level, Asked: asked}
	if kubelet.given() {
		again.Load = func(string) (*config.Config, error) {
			cfg, _, err := kubelet.load(cmd.Context(), a, cmd)
			return cfg, err
		}
	}
	node, err := agent.Open(cfg, agent.Options{Logger: logger, Version: version, Reload: again, LookupEnv: os.LookupEnv})
	if err != nil {
		return err
	}
	return node.Run(cmd.Context())
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
