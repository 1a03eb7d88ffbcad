package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/cmd/agent/get"
	"github.com/wardlet/wardlet/cmd/agent/policycmd"
	"github.com/wardlet/wardlet/cmd/agent/top"
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

// app has the methods of the commands.
type app struct{ *cli.App }

// execute runs one command line and returns the exit status. It filters control characters out of
// all output to the terminal.
func (a *app) execute(ctx context.Context, args []string) int {
	a.RawOut, a.RawErr = a.Out, a.ErrOut
	out := &watched{Writer: printable.Writer{W: a.Out}}
	a.Out, a.ErrOut = out, printable.Writer{W: a.ErrOut}
	root := a.root()
	root.SetArgs(policycmd.LikeGoTest(args))
	root.SetOut(a.Out)
	root.SetErr(a.ErrOut)
	refuseUnknownShells(root)
	cmd, err := root.ExecuteContextC(ctx)
	err = a.outcome(cmd, out.used, err)
	if err == nil {
		return exitOK
	}
	cli.PrintError(a.ErrOut, err)
	if ended, ok := errors.AsType[*programError](err); ok {
		return ended.status
	}
	if wrong, ok := errors.AsType[*cli.UsageError](err); ok {
		fmt.Fprintf(a.ErrOut, "See %q.\n", wrong.Command+" --help")
		return exitUsage
	}
	return exitError
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "wardlet",
		Short: "A Kubernetes node agent whose decisions are pluggable",
		Long: "Wardlet runs the pods of a node: a kubelet at its core, whose policy points are\n" +
			"WebAssembly plugins. The exit status is 0, 1 after an error, 2 for wrong usage;\n" +
			"of exec it is that of the program it runs.",
		Args:          cli.KnownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = versionLine(api.NewVersion(version))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.WrongUsage(cmd, longFlag(cmd, err))
	})
	root.PersistentFlags().StringVarP(&a.ConfigPath, "config", "c", config.DefaultPath, "the agent's configuration")
	root.AddCommand(a.runCommand(), a.checkCommand(), get.Command(a.App), top.Command(a.App), a.describeCommand(), a.explainCommand(), a.logsCommand(), a.execCommand(), a.attachCommand(), a.portForwardCommand(), a.releaseCommand(), policycmd.Command(a.App), a.reloadCommand(), a.migrateCommand(), a.kubeletCommand(), a.versionCommand())
	for name, hint := range elsewhere {
		root.AddCommand(absentCommand(name, hint))
	}
	return root
}

// refuseUnknownShells makes "completion" return an error for a shell without a script.
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
			return cli.WrongUsage(cmd, err)
		}
	}
}

// elsewhere lists commands of kubectl that this program lacks, with what to use instead.
var elsewhere = map[string]string{
	"apply":  "put the manifest into the directory of a source; wardlet get sources shows them",
	"create": "put the manifest into the directory of a source; wardlet get sources shows them",
	"edit":   "edit the manifest in the directory of its source; wardlet get sources shows them",
	"delete": "remove the manifest from its source; wardlet explain pod NAMESPACE/NAME says where it is",
}

// absentCommand refuses a command of kubectl, whatever its flags, and names the alternative.
func absentCommand(name, hint string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WrongUsage(cmd.Parent(), fmt.Errorf("unknown command %q for %q; %s", name, cmd.Parent().CommandPath(), hint))
		},
	}
}

// longFlag adds a hint to the error for an unknown shorthand such as -verbose: the flag that its
// letters spell. Go's tools accept a single dash.
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
