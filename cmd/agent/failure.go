package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// failure is the object that a command prints if it failed without printing another object.
type failure struct {
	Error string `json:"error"`
}

// outcome completes a policy command that was to print an object, so that a script always reads
// one. If printed is false, it prints the error as a failure object. It still returns the error.
func (a *app) outcome(cmd *cobra.Command, printed bool, err error) error {
	if _, usage := errors.AsType[*cli.UsageError](err); err == nil || usage || printed || !ofPolicies(cmd) {
		return err
	}
	flag := cmd.Flags().Lookup("output")
	if flag == nil || !cli.IsObjectFormat(flag.Value.String()) {
		return err
	}
	return errors.Join(err, cli.PrintObject(a.Out, flag.Value.String(), failure{err.Error()}))
}

func ofPolicies(cmd *cobra.Command) bool { return cmd.HasParent() && cmd.Parent().Name() == "policy" }

// watched records whether anything was written to its Writer.
type watched struct {
	io.Writer

	used bool
}

// Write implements io.Writer.
func (w *watched) Write(text []byte) (int, error) {
	w.used = w.used || len(text) > 0
	return w.Writer.Write(text)
}
