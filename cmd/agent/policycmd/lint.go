package policycmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyLintCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "lint DIR",
		Short: "Load a directory of policies as the agent would, and report what to look at",
		Long: "Loads the policies of a directory as the agent would, runs their tests, and prints every reason to\n" +
			"refuse them, and what their author should look at: policies without tests, failures that let pods\n" +
			"pass, exceptions that have expired or soon will. It does not ask for a signature. Bounds of\n" +
			"modules are those of the configuration of --config, or the default ones. The exit status is 1 if\n" +
			"the policies would be refused.",
		Example: "  wardlet policy lint /etc/wardlet/policies\n  wardlet policy lint policies --config agent.toml",
		Args:    oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			cfg := config.Default()
			if cmd.Flags().Changed("config") {
				var err error
				if cfg, err = a.LoadConfig(cmd.Context()); err != nil {
					return err
				}
			}
			set, advice, err := author.LintPolicies(cmd.Context(), cfg, args[0])
			r := lintReport{err == nil, namesOf(&set), append([]author.Fault{}, author.Faults(err)...), append([]author.Fault{}, advice...)}
			if output == "" {
				a.printLint(&r)
			} else if err := cli.PrintObject(a.Out, output, r); err != nil {
				return err
			}
			if err == nil {
				return nil
			}
			return refusal(fmt.Errorf("%w:\n%w", replay.ErrRefused, err))
		},
	}
	cli.AddObjectFlag(cmd, &output)
	return cmd
}

// lintReport is the result of loading a directory.
type lintReport struct {
	// Taken reports whether an agent would accept the set.
	Taken bool `json:"taken"`
	// Policies are the names of the policies, none if the set would be refused.
	Policies []string `json:"policies"`
	// Faults are the reasons why the set would be refused.
	Faults []author.Fault `json:"faults"`
	// Advice lists what the author should check.
	Advice []author.Fault `json:"advice"`
}

func (a *app) printLint(r *lintReport) {
	for i := range r.Advice {
		fmt.Fprintln(a.Out, "look at "+printable.Line(r.Advice[i].File+": "+r.Advice[i].Message))
	}
	if r.Taken {
		fmt.Fprintf(a.Out, "%s would be taken: %s\n", cli.Plural(len(r.Policies), "policy", "policies"), printable.Line(strings.Join(r.Policies, ", ")))
	}
}

// refusal returns an error of several lines. Each line after the first has one reason.
func refusal(err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = printable.Line(lines[i])
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// namesOf returns the names of a set's policies.
func namesOf(set *api.PolicySet) []string {
	names := make([]string, len(set.Policies))
	for i := range set.Policies {
		names[i] = set.Policies[i].Name
	}
	return names
}
