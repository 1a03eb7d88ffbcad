package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work on policies and their plugins",
		Long: "Commands for those who write policies, or choose which to use. Diff, export, inspect, lint, replay,\n" +
			"sign and verify need no running agent. Of these diff, export and replay read the configuration\n" +
			"unless told otherwise.",
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{errors.New("say what to do: diff, export, inspect, lint, reload, replay, retry, rollback, sign or verify"), cmd.CommandPath()}
		},
	}
	cmd.AddCommand(a.policyDiffCommand(), a.policyExportCommand(), a.policyInspectCommand(), a.policyLintCommand(), a.policyReloadCommand(), a.policyReplayCommand(), a.policyRetryCommand(), a.policyRollbackCommand(),
		a.policySignCommand(), a.policyVerifyCommand())
	return cmd
}
