package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Show what the agent knows",
		Long: "Shows what the running agent knows: pods and what happened to them, the policies that judge\n" +
			"them and their decisions, the updates that wait for policies, the sources pods come from,\n" +
			"the objects they use, where sources are in conflict, and what the node is. For scripts, -o name prints a line\n" +
			"KIND/NAME for each, of pods, updates and conflicts KIND/NAMESPACE/NAME and of decisions on\n" +
			"record decision/ID, as other commands take it, and --no-headers prints tables without the\n" +
			"line of headers.",
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{errors.New("say what to get: pods, events, policies, decisions, updates, sources, objects, conflicts or node"), cmd.CommandPath()}
		},
	}
	a.addSocketFlag(cmd)
	cmd.AddCommand(a.getPodsCommand(), a.getEventsCommand(), a.getPoliciesCommand(), a.getDecisionsCommand(), a.getUpdatesCommand(),
		a.getSourcesCommand(), a.getObjectsCommand(), a.getConflictsCommand(), a.getNodeCommand())
	return cmd
}

// getFlags are those of every `get` subcommand.
type getFlags struct {
	output    string
	noHeaders bool
	watch     bool
}

func (f *getFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", formatTable, formatNames)
	cmd.Flags().BoolVar(&f.noHeaders, "no-headers", false,
		"print nothing but the rows of tables; what is said below them goes to standard error")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on, and print what changes; tables show what is gone as Gone")
}

func (f *getFlags) check(cmd *cobra.Command) error {
	if !isFormat(f.output) {
		return &usageError{fmt.Errorf("unknown output %q; want %s", f.output, formatNames), cmd.CommandPath()}
	}
	return nil
}
