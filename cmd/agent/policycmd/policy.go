package policycmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// app has the methods of the commands.
type app struct{ *cli.App }

// Command returns the command policy.
func Command(a *cli.App) *cobra.Command { return (&app{a}).policyCommand() }

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work on policies and their plugins",
		Long: "Commands for authors of policies and for operators. Only confirm, promote, reload, retry and\n" +
			"rollback need a running agent. diff, export, replay and run --decision read the configuration\n" +
			"unless flags name the directories.",
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WrongUsage(cmd, errors.New("say what to do: bench, confirm, diff, export, inspect, lint, new, promote, reload, replay, retry, rollback, run, sign, test or verify"))
		},
	}
	cmd.AddCommand(
		a.policyBenchCommand(), a.policyConfirmCommand(), a.policyDiffCommand(), a.policyExportCommand(), a.policyInspectCommand(), a.policyLintCommand(),
		a.policyNewCommand(), a.policyPromoteCommand(), a.policyReloadCommand(), a.policyReplayCommand(), a.policyRetryCommand(), a.policyRollbackCommand(), a.policyRunCommand(),
		a.policySignCommand(), a.policyTestCommand(), a.policyVerifyCommand(),
	)
	return cmd
}
