package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/preflight"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) checkCommand() *cobra.Command {
	opts := preflight.CheckOptions{Version: version, Waiting: func(subject string, limit time.Duration) {
		fmt.Fprintf(a.ErrOut, "wardlet: waiting for %s, at most %s\n", subject, limit)
	}}
	kubelet := &kubeletFlags{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check configuration, policies, runtime and sources without starting",
		Long: "Checks everything that the agent needs and prints a line for each: ok, warn, or fail if something\n" +
			"must be mended; the lines below it say what is wrong. It starts and changes nothing, and does not\n" +
			"disturb a running agent. The exit status is 1 if a check failed.",
		Example: "  wardlet check --config agent.toml",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.Timeout <= 0 {
				return cli.WrongUsage(cmd, fmt.Errorf("invalid --timeout %s: must be longer than 0s", opts.Timeout))
			}
			cfg, warnings, err := kubelet.load(cmd.Context(), a, cmd)
			path := kubelet.followed(a, cmd)
			if err != nil {
				a.printFinding(preflight.Finding{Level: preflight.LevelFail, Subject: "configuration " + path, Message: err.Error()})
				return errors.New("the configuration cannot be used; nothing else was checked")
			}
			a.printFinding(preflight.Finding{Level: preflight.LevelOK, Subject: "configuration " + path})
			for _, warning := range warnings {
				a.printFinding(preflight.Finding{Level: preflight.LevelWarn, Subject: warning.Error()})
			}
			for _, f := range preflight.CheckFile(path) {
				a.printFinding(f)
			}
			failed := 0
			preflight.Check(cmd.Context(), cfg, opts, func(f preflight.Finding) {
				a.printFinding(f)
				if f.Level == preflight.LevelFail {
					failed++
				}
			})
			switch failed {
			case 0:
				return nil
			case 1:
				return errors.New("1 check failed")
			}
			return fmt.Errorf("%d checks failed", failed)
		},
	}
	kubelet.add(cmd)
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", preflight.DefaultCheckTimeout,
		"how long the runtime, each source and a running agent may take to answer")
	return cmd
}

// printFinding prints a finding as one line. Further lines of its message are
// indented.
func (a *app) printFinding(f preflight.Finding) {
	text := f.Subject
	if f.Message != "" {
		text += ": " + f.Message
	}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		level := string(f.Level)
		if i > 0 {
			level = ""
		}
		fmt.Fprintf(a.Out, "%-5s %s\n", level, printable.Line(line))
	}
}
