package policycmd

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyConfirmCommand() *cobra.Command {
	var tenant, sha256, output string
	cmd := &cobra.Command{
		Use:   "confirm NAME",
		Short: "Let a policy evict all running pods that it denies",
		Long: "A policy with on_change = \"evict\" evicts a tenth of the pods that it judges, at least one, and\n" +
			"then waits. This command lets it continue, one pod every 10 seconds, until it has evicted all pods\n" +
			"that it denies. The confirmation is for the policy as it is now: a changed policy waits again.\n" +
			"\"wardlet get policies\" says what waits. With --sha256 nothing is confirmed if the policy has\n" +
			"changed since you looked: \"wardlet get policies -o wide\" has the beginning of its module's digest,\n" +
			"sha256sum prints the digest of its document.",
		Example: "  wardlet policy confirm allowed-images\n  wardlet policy confirm allowed-images --tenant a\n" +
			"  wardlet policy confirm allowed-images --sha256 0b5a4c8d1e2f",
		Args: onePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var outcome api.PolicyOutcome
			path := "/v1/policies/confirm?" + url.Values{"tenant": {tenant}, "name": {args[0]}, "sha256": {sha256}}.Encode()
			if err := c.Post(cmd.Context(), path, &outcome); err != nil {
				return err
			}
			return a.printConfirmed(args[0], output, &outcome)
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "a policy of this `TENANT`, not one of the operator")
	cmd.Flags().StringVar(&sha256, "sha256", "", "only if the `DIGEST` of its module or its document begins so, with 12 digits or more")
	cli.AddObjectFlag(cmd, &output)
	a.AddSocketFlag(cmd)
	return cmd
}

func onePolicy(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.WrongUsage(cmd, errors.New(`name one policy; "wardlet get policies" lists them`))
	}
	return nil
}

// printConfirmed describes how the policy continues after the confirmation.
func (a *app) printConfirmed(name, output string, o *api.PolicyOutcome) error {
	if output != "" {
		if err := cli.PrintObject(a.Out, output, o); err != nil {
			return err
		}
	}
	if o.Refused != "" {
		return errors.New("not confirmed: " + printable.Line(o.Refused))
	}
	if output != "" {
		return nil
	}
	for i := range o.Set.Policies {
		if p := &o.Set.Policies[i]; p.Name == name && p.Review != nil {
			of := ""
			if p.SHA256 != "" {
				of = fmt.Sprintf(" (module %s)", printable.Line(cli.ShortDigest(p.SHA256)))
			}
			fmt.Fprintf(a.Out, "%s: %s is confirmed, %s%s\n", printable.Line(cli.OwnerOf(&o.Set)), printable.Line(name), cli.Evictions(p.Review), of)
		}
	}
	return nil
}
