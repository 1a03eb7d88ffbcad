package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/printable"
)

// The exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// app is what all subcommands share.
type app struct {
	in          io.Reader
	out, errOut io.Writer
	// rawOut and rawErr are out and errOut as they were given: for what a container writes.
	rawOut, rawErr io.Writer
	now            func() time.Time
	// poll is how often a watch asks again.
	poll time.Duration

	// configPath and socket are --config and --socket.
	configPath, socket string
}

// usageError is a command line that makes no sense.
type usageError struct {
	err error
	// command is the command whose help tells more.
	command string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// execute runs one command line and returns the exit status. Whatever a command prints
// reaches the terminal without characters that would steer it.
func (a *app) execute(ctx context.Context, args []string) int {
	a.rawOut, a.rawErr = a.out, a.errOut
	out := &watched{Writer: printable.Writer{W: a.out}}
	a.out, a.errOut = out, printable.Writer{W: a.errOut}
	root := a.root()
	root.SetArgs(likeGoTest(args))
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	refuseUnknownShells(root)
	cmd, err := root.ExecuteContextC(ctx)
	err = a.outcome(cmd, out.used, err)
	if err == nil {
		return exitOK
	}
	a.printError(err)
	if ended, ok := errors.AsType[*programError](err); ok {
		return ended.status
	}
	if wrong, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(a.errOut, "See %q.\n", wrong.command+" --help")
		return exitUsage
	}
	return exitError
}

func (a *app) printError(err error) { fmt.Fprintf(a.errOut, "wardlet: %s\n", hanging(err.Error())) }

// hanging indents the lines of an error after the first, so that what it quotes never
// looks like a message of its own.
func hanging(message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = printable.Line(line)
		if i > 0 && !strings.HasPrefix(line, "  ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "wardlet",
		Short: "A Kubernetes node agent whose decisions are pluggable",
		Long: "Wardlet runs the pods of a node: a kubelet at its core, whose policy points are\n" +
			"WebAssembly plugins. The exit status is 0, 1 after an error, 2 for wrong usage;\n" +
			"of exec it is that of the program it runs.",
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = versionLine(api.NewVersion(version))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{longFlag(cmd, err), cmd.CommandPath()}
	})
	root.PersistentFlags().StringVarP(&a.configPath, "config", "c", config.DefaultPath, "the agent's configuration")
	root.AddCommand(a.runCommand(), a.checkCommand(), a.getCommand(), a.describeCommand(), a.explainCommand(), a.logsCommand(), a.execCommand(), a.attachCommand(), a.portForwardCommand(), a.releaseCommand(), a.policyCommand(), a.reloadCommand(), a.versionCommand())
	for name, hint := range elsewhere {
		root.AddCommand(absentCommand(name, hint))
	}
	return root
}

// refuseUnknownShells makes "completion" an error for a shell that it has no script for.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range cmd.Commands() {
			shells = append(shells, shell.Name())
		}
		cmd.Args = nil
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := fmt.Errorf("name a shell: %s", strings.Join(shells, ", "))
			if len(args) > 0 {
				err = fmt.Errorf("there is no completion for %q; want %s", args[0], strings.Join(shells, ", "))
			}
			return &usageError{err, cmd.CommandPath()}
		}
	}
}

// elsewhere are commands of kubectl that this program has not, with what to use instead.
var elsewhere = map[string]string{
	"top":    "use crictl stats, or the metrics of the agent",
	"apply":  "put the manifest into the directory of a source; wardlet get sources shows them",
	"create": "put the manifest into the directory of a source; wardlet get sources shows them",
	"edit":   "edit the manifest in the directory of its source; wardlet get sources shows them",
	"delete": "remove the manifest from its source; wardlet explain pod NAMESPACE/NAME says where it is",
}

// absentCommand refuses a command of kubectl, whatever its flags, and says what to use.
func absentCommand(name, hint string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{fmt.Errorf("unknown command %q for %q; %s", name, cmd.Parent().CommandPath(), hint), cmd.Parent().CommandPath()}
		},
	}
}

// longFlag adds to an unknown shorthand such as -verbose the flag that its letters
// spell, as Go's tools take one dash.
func longFlag(cmd *cobra.Command, err error) error {
	shorthands, ok := errors.AsType[interface {
		error
		GetSpecifiedShortnames() string
	}](err)
	if !ok {
		return err
	}
	name, _, _ := strings.Cut(shorthands.GetSpecifiedShortnames(), "=")
	if cmd.Flags().Lookup(name) == nil {
		return err
	}
	return fmt.Errorf("%w; did you mean %q?", err, "--"+name)
}

// knownCommand refuses arguments of a command that only has subcommands.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return &usageError{err, cmd.CommandPath()}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("%q takes no arguments, found %q", cmd.CommandPath(), args[0]), cmd.CommandPath()}
	}
	return nil
}
