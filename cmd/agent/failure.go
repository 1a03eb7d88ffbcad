package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// failure is what a command prints as its object that has failed and has none.
type failure struct {
	Error string `json:"error"`
}

// outcome ends a command of policies that was to print an object: a script that reads
// it gets one in any case. printed tells whether there is one already. The error stays
// the command's.
func (a *app) outcome(cmd *cobra.Command, printed bool, err error) error {
	if _, usage := errors.AsType[*usageError](err); err == nil || usage || printed || !ofPolicies(cmd) {
		return err
	}
	flag := cmd.Flags().Lookup("output")
	if flag == nil || !isObjectFormat(flag.Value.String()) {
		return err
	}
	return errors.Join(err, printObject(a.out, flag.Value.String(), failure{err.Error()}))
}

func ofPolicies(cmd *cobra.Command) bool { return cmd.HasParent() && cmd.Parent().Name() == "policy" }

// watched tells whether anything was written to w.
type watched struct {
	io.Writer

	used bool
}

// Write implements io.Writer.
func (w *watched) Write(text []byte) (int, error) {
	w.used = w.used || len(text) > 0
	return w.Writer.Write(text)
}
