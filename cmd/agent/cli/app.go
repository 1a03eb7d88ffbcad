package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/printable"
)

// App is what all commands share.
type App struct {
	In          io.Reader
	Out, ErrOut io.Writer
	// RawOut and RawErr are Out and ErrOut as they were given: for what a container writes.
	RawOut, RawErr io.Writer
	Now            func() time.Time
	// Poll is how often a watch asks again.
	Poll time.Duration

	// ConfigPath and Socket are --config and --socket.
	ConfigPath, Socket string
}

// UsageError is a command line that makes no sense.
type UsageError struct {
	err error
	// Command is the command whose help tells more.
	Command string
}

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// WrongUsage returns a UsageError of a command.
func WrongUsage(cmd *cobra.Command, err error) error { return &UsageError{err, cmd.CommandPath()} }

// KnownCommand refuses arguments of a command that only has subcommands.
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

// Plural returns a number and the noun that goes with it.
func Plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// OrNone returns s, or what a cell of a table has instead of nothing.
func OrNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// PrintError prints the error of a command.
func PrintError(w io.Writer, err error) { fmt.Fprintf(w, "wardlet: %s\n", Hanging(err.Error())) }

// Hanging indents the lines of an error after the first, so that what it quotes never
// looks like a message of its own.
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
