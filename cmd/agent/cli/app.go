package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/printable"
)

// App has the state that all commands share.
type App struct {
	In          io.Reader
	Out, ErrOut io.Writer
	// RawOut and RawErr are the original Out and ErrOut, without the filter for control characters.
	// They are for the output of containers.
	RawOut, RawErr io.Writer
	Now            func() time.Time
	// Poll is the interval at which a watch asks the agent again.
	Poll time.Duration

	// ConfigPath and Socket are --config and --socket.
	ConfigPath, Socket string
}

// UsageError is the error for an invalid command line.
type UsageError struct {
	err error
	// Command is the command whose help describes the usage.
	Command string
}

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// WrongUsage returns a UsageError of a command.
func WrongUsage(cmd *cobra.Command, err error) error { return &UsageError{err, cmd.CommandPath()} }

// KnownCommand refuses the arguments of a command that only has subcommands.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return WrongUsage(cmd, err)
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return WrongUsage(cmd, fmt.Errorf("%q takes no arguments, found %q", cmd.CommandPath(), args[0]))
	}
	return nil
}

// Plural returns a number and its noun, in the singular or the plural.
func Plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// OrNone returns s, or "<none>" for a cell of a table that would be empty.
func OrNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// PrintError prints the error of a command.
func PrintError(w io.Writer, err error) { fmt.Fprintf(w, "wardlet: %s\n", Hanging(err.Error())) }

// Hanging indents the lines of an error after the first, so that text quoted in the error never
// looks like a separate message.
func Hanging(message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = printable.Line(line)
		if i > 0 && !strings.HasPrefix(line, "  ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}
