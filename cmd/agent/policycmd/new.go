package policycmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/plugins/scaffold"
)

func (a *app) policyNewCommand() *cobra.Command {
	var (
		o      scaffold.Options
		output string
	)
	cmd := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Start a policy of your own, in Go or C",
		Long: "Writes a policy that works to DIR, by default a folder of its name: a plugin in Go or C with its\n" +
			"tests, the policy document, pods to test it with, a Makefile, and a copy of the SDK. It is built\n" +
			"and tested with Go alone, or with clang and lld, and without a network. Nothing is overwritten:\n" +
			"DIR must be empty or missing.",
		Example: "  wardlet policy new team-labels\n" +
			"  wardlet policy new night-shift --hook filter --lang c policies/night-shift",
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := func(format string, args ...any) error {
				return cli.WrongUsage(cmd, fmt.Errorf(format, args...))
			}
			switch {
			case output != "" && !cli.IsObjectFormat(output):
				return wrong("unknown output %q; want json or yaml", output)
			case len(args) == 0:
				return wrong("%q takes the NAME of the policy; found none", cmd.CommandPath())
			case len(args) > 2:
				return wrong("%q takes a NAME and a DIR, found also %q", cmd.CommandPath(), args[2])
			}
			o.Name, o.Dir = args[0], args[len(args)-1]
			if err := o.Check(); err != nil {
				return wrong("%w", err)
			}
			return a.newPolicy(o, output)
		},
	}
	cmd.Flags().StringVar(&o.Language, "lang", scaffold.Languages[0], "language of the plugin: "+strings.Join(scaffold.Languages, " or "))
	cmd.Flags().StringVar(&o.Hook, "hook", scaffold.Hooks[0], "its hook: admit, merge, filter or connect")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// newPolicy describes the created policy.
type newPolicy struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Hook     string `json:"hook"`
	Dir      string `json:"dir"`
	// Files are the files below Dir. The folder sdk is there, too.
	Files []string `json:"files"`
}

func (a *app) newPolicy(o scaffold.Options, output string) error {
	files, err := scaffold.New(o)
	if err != nil {
		return err
	}
	if output != "" {
		return cli.PrintObject(a.Out, output, newPolicy{o.Name, o.Language, o.Hook, o.Dir, files})
	}
	fmt.Fprintf(a.Out, "%s holds the policy %s: %s, and a copy of the SDK.\n", printable.Line(o.Dir), o.Name, strings.Join(files, ", "))
	code := "policy.go"
	if o.Language == "c" {
		code = "main.c"
	}
	fmt.Fprintln(a.Out, "next, in that folder:")
	t := cli.Table{W: &indented{a.Out, "  "}}
	t.Print(
		[]string{"make", "builds " + o.Name + ".wasm, and writes its digest into " + o.Name + ".toml"},
		[]string{"make test", "runs the tests of the code and of the document"},
		[]string{"wardlet policy run " + o.Name + ".toml --pod FILE", "puts a pod to it"},
	)
	fmt.Fprintf(a.Out, "Then write the decision in %s, and its tests.\n", printable.Line(filepath.Join(o.Dir, code)))
	return nil
}
