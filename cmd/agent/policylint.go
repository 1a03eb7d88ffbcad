package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
)

func (a *app) policyLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint DIR",
		Short: "Load a directory of policies as the agent would, and say what to look at",
		Long: "Loads the policies of a directory as the agent would, runs their tests, and prints every\n" +
			"reason for which they would be refused, and what their author should look at: policies without\n" +
			"tests, failures that let pods pass, exceptions that have expired. A signature is not asked for.\n" +
			"Bounds of modules are those of the configuration that --config names, without one the default\n" +
			"ones. The exit status is 1 if the policies would be refused.",
		Example: "  wardlet policy lint /etc/wardlet/policies\n  wardlet policy lint policies --config agent.toml",
		Args:    oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg := config.Default()
			if cmd.Flags().Changed("config") {
				var err error
				if cfg, err = config.Load(a.configPath); err != nil {
					return err
				}
			}
			set, advice, err := agent.LintPolicies(cmd.Context(), cfg, args[0])
			for _, text := range advice {
				fmt.Fprintln(a.out, "look at "+printable(text))
			}
			if err == nil {
				fmt.Fprintf(a.out, "%s would be taken: %s\n", plural(len(set.Policies), "policy", "policies"), printable(namesOf(&set)))
				return nil
			}
			return refusal(fmt.Errorf("%w:\n%w", agent.ErrRefused, err))
		},
	}
}

// refusal is an error of several lines, of which those after the first are of one
// reason each.
func refusal(err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// namesOf are the names of a set's policies.
func namesOf(set *pod.PolicySet) string {
	names := make([]string, len(set.Policies))
	for i := range set.Policies {
		names[i] = set.Policies[i].Name
	}
	return strings.Join(names, ", ")
}
