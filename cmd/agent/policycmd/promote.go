package policycmd

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyPromoteCommand() *cobra.Command {
	var tenant, dir, output string
	cmd := &cobra.Command{
		Use:   "promote NAME",
		Short: "Promote a shadow policy to replace the one in force",
		Long: "A document with mode = \"shadow\" and the name of a policy in force is a candidate to replace it: it\n" +
			"judges beside the policy, and the agent compares the answers. Once the candidate was asked as\n" +
			"often and for as long as its document requires, and differs no more often than that allows, this\n" +
			"command promotes it: its document, with the mode of the policy, replaces the policy's, and its own\n" +
			"file is removed. The agent notices that like any change. A signed set is changed where it is\n" +
			"signed: name that directory with --dir, and sign it then.",
		Example: "  wardlet policy promote allowed-images\n" +
			"  wardlet policy promote allowed-images --dir ~/policies && wardlet policy sign ~/policies --key policies.key",
		Args: onePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var sets []api.PolicySet
			if err := c.Get(cmd.Context(), "/v1/policies", &sets); err != nil {
				return err
			}
			return a.promote(sets, tenant, args[0], dir, output)
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "a policy of this `TENANT`, not one of the operator")
	cmd.Flags().StringVar(&dir, "dir", "", "change a copy of the directory, which holds the same (default: the directory itself)")
	cli.AddObjectFlag(cmd, &output)
	a.AddSocketFlag(cmd)
	return cmd
}

// promoted is the result of a promotion.
type promoted struct {
	Tenant string `json:"tenant,omitempty"`
	Policy string `json:"policy"`
	// Written is the policy's document, which now has the candidate's content. Removed is the
	// candidate's document, empty if it could not be removed.
	Written string `json:"written"`
	Removed string `json:"removed"`
}

func (a *app) promote(sets []api.PolicySet, tenant, name, dir, output string) error {
	for i := range sets {
		set := &sets[i]
		if set.Tenant != tenant || set.Directory == "" {
			continue
		}
		if set.Key != "" && dir == "" {
			return errors.New("the set is signed: name with --dir the directory that you sign, and sign it then with \"wardlet policy sign\"")
		}
		path, gone, err := replay.Promote(set, name, cmp.Or(dir, set.Directory))
		if output != "" && path != "" {
			return errors.Join(cli.PrintObject(a.Out, output, promoted{tenant, name, path, gone}), err)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s is now what %s was, which is removed; \"wardlet get policies\" shows when it is in force\n", printable.Line(path), printable.Line(gone))
		return nil
	}
	return fmt.Errorf("%s has no policies", cmp.Or(tenant, "the operator"))
}
