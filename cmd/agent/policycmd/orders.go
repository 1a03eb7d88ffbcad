package policycmd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

// orderPatience limits the time of an order about policies: compiling each policy of a set may take
// half a minute.
const orderPatience = 10 * time.Minute

func (a *app) policyReloadCommand() *cobra.Command {
	return a.policyOrderCommand("reload", &cobra.Command{
		Use:   "reload",
		Short: "Make the agent read a directory of policies now, and wait",
		Long: "Makes the agent read a directory of policies now, as it does by itself when something changes, and\n" +
			"waits until the content is in force or refused. The exit status is 1 if it is refused; then the\n" +
			"set in force stays. The breakers of plugins that failed are closed.",
		Example: "  wardlet policy reload\n  wardlet policy reload --tenant a",
	})
}

func (a *app) policyRetryCommand() *cobra.Command {
	return a.policyOrderCommand("retry", &cobra.Command{
		Use:   "retry",
		Short: "Make the agent try policies again that it refused, or that failed",
		Long: "Forgets which contents of a directory of policies were refused or rolled back, and reads it as\n" +
			"\"wardlet policy reload\" does. Otherwise refused content is tried again only when it changes or\n" +
			"another version of the agent runs, not after a mere restart. The breakers of plugins that failed\n" +
			"are closed, and pods that are held, or are denied and of the node's own sources, are judged again.",
		Example: "  wardlet policy retry\n  wardlet policy retry --tenant a",
	})
}

func (a *app) policyRollbackCommand() *cobra.Command {
	return a.policyOrderCommand("rollback", &cobra.Command{
		Use:   "rollback",
		Short: "Go back to the set of policies that was in force before",
		Long: "Puts the set of policies into force that was in force before the present one. The content of the\n" +
			"directory is refused until it changes, or until \"wardlet policy retry\".",
		Example: "  wardlet policy rollback\n  wardlet policy rollback --tenant a",
	})
}

// policyOrderCommand completes a command that sends the agent an order about the policies of one
// owner.
func (a *app) policyOrderCommand(order string, cmd *cobra.Command) *cobra.Command {
	var tenant, output string
	cmd.Args = cli.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := wantsObject(cmd, output); err != nil {
			return err
		}
		c, err := a.Client(cmd)
		if err != nil {
			return err
		}
		var outcome api.PolicyOutcome
		path := "/v1/policies/" + order + "?" + url.Values{"tenant": {tenant}}.Encode()
		if err := c.Patient(orderPatience).Post(cmd.Context(), path, &outcome); err != nil {
			return err
		}
		return a.printPolicyOutcome(order, output, &outcome)
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "the policies of this `TENANT`, not those of the operator")
	cli.AddObjectFlag(cmd, &output)
	a.AddSocketFlag(cmd)
	return cmd
}

// printPolicyOutcome prints the set in force. It returns an error if the content of the directory
// was refused. After a rollback, the error says that nothing was rolled back.
func (a *app) printPolicyOutcome(order, output string, o *api.PolicyOutcome) error {
	set := &o.Set
	switch {
	case output != "":
		if err := cli.PrintObject(a.Out, output, o); err != nil {
			return err
		}
	case set.Ready:
		fmt.Fprintf(a.Out, "%s: set %s in force, generation %d, with %s from %s\n",
			printable.Line(cli.OwnerOf(set)), printable.Line(cli.ShortDigest(set.Digest)), set.Generation, cli.Plural(len(set.Policies), "policy", "policies"), printable.Line(set.Directory))
	}
	if o.Refused == "" {
		return nil
	}
	what := "the content of " + set.Directory + " is refused"
	if order == "rollback" {
		what = "not rolled back"
	}
	lines := strings.Split(o.Refused, "\n")
	for i := range lines {
		lines[i] = printable.Line(lines[i])
	}
	return errors.New(printable.Line(what) + ":\n  " + strings.Join(lines, "\n  "))
}
