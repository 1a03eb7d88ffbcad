package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the agent read its configuration again",
		Long: "Makes the agent read its configuration again, as it does by itself when the file changes, and\n" +
			"prints what changed and what needs a restart. A file with faults changes nothing; then the exit\n" +
			"status is 1. Policies are not read again.",
		Example: "  wardlet reload",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var outcome reload.Outcome
			if err := c.Post(cmd.Context(), "/v1/reload", &outcome); err != nil {
				return err
			}
			a.printOutcome(&outcome)
			return nil
		},
	}
	a.AddSocketFlag(cmd)
	return cmd
}

// printOutcome prints a line for each change, or that there is none.
func (a *app) printOutcome(o *reload.Outcome) {
	for _, c := range o.Applied {
		a.printChange(c, fmt.Sprintf("is now %s, was %s", valueInWords(c.To), valueInWords(c.From)))
	}
	for _, c := range o.Restart {
		a.printChange(c, fmt.Sprintf("needs a restart to be %s instead of %s; %s", valueInWords(c.To), valueInWords(c.From), c.Why))
	}
	if len(o.Applied) == 0 && len(o.Restart) == 0 {
		fmt.Fprintln(a.Out, "nothing changed: the file is in force")
	}
}

func (a *app) printChange(c config.Change, text string) {
	fmt.Fprintln(a.Out, printable.Line(c.Key+" "+text))
}

// valueInWords returns the value of a key, or "empty".
func valueInWords(value string) string {
	if value == "" {
		return "empty"
	}
	return value
}
