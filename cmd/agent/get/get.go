package get

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// app has the methods of the commands.
type app struct{ *cli.App }

// Command returns the command get.
func Command(a *cli.App) *cobra.Command { return (&app{a}).getCommand() }

func (a *app) getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Show what the agent knows",
		Long: "Shows what the running agent knows: pods and their events, policies and their decisions, updates\n" +
			"that wait, sources, objects that pods use, conflicts between sources, and the node. For scripts,\n" +
			"-o name prints a line KIND/NAME for each: KIND/NAMESPACE/NAME for pods, updates and conflicts, and\n" +
			"decision/ID for decisions, as other commands accept it. --no-headers prints tables without the\n" +
			"line of headers.",
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WrongUsage(cmd, errors.New("say what to get: pods, events, policies, decisions, updates, sources, objects, conflicts or node"))
		},
	}
	a.AddSocketFlag(cmd)
	cmd.AddCommand(a.getPodsCommand(), a.getEventsCommand(), a.getPoliciesCommand(), a.getDecisionsCommand(), a.getUpdatesCommand(),
		a.getSourcesCommand(), a.getObjectsCommand(), a.getConflictsCommand(), a.getNodeCommand())
	return cmd
}

// getFlags are the flags of every `get` subcommand.
type getFlags struct {
	output    string
	noHeaders bool
	watch     bool
}

func (f *getFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", cli.FormatTable, cli.FormatNames)
	cmd.Flags().BoolVar(&f.noHeaders, "no-headers", false,
		"print nothing but the rows of tables; what is said below them goes to standard error")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "watch, and print what changes; tables show removed ones as Gone")
}

func (f *getFlags) check(cmd *cobra.Command) error {
	if !cli.IsFormat(f.output) {
		return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want %s", f.output, cli.FormatNames))
	}
	return nil
}
