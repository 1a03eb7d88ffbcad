package get

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

func (a *app) getNodeCommand() *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "node",
		Aliases: []string{"nodes"},
		Short:   "Show what the agent knows about its node",
		Long: "Shows the node as admission and policies see it and, on a node of a cluster, as the agent reports\n" +
			"it to the API server: labels, taints, capacity, conditions. STATUS is as in kubectl on a node of a\n" +
			"cluster, otherwise -.",
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) > 0 {
				return cli.WrongUsage(cmd, fmt.Errorf("there is one node, which has no need of a name; found %q", names[0]))
			}
			if err := flags.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			g := getter{app: a, flags: flags, kind: "node", kinds: "nodes", columns: nodeColumns}
			g.list = func(ctx context.Context) (listing, error) {
				n := &v1.Node{}
				if err := c.Get(ctx, "/v1/node", n); err != nil {
					return listing{}, err
				}
				n.APIVersion, n.Kind = "v1", "Node"
				g.names = []string{n.Name} // there is one node: it is printed as an object, not as a list
				return listing{entries: []entry{nodeEntry(n, a.Now())}}, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	return cmd
}

var nodeColumns = []string{"NAME", "STATUS", "AGE", "VERSION", "INTERNAL-IP", "TAINTS"}

func nodeEntry(n *v1.Node, now time.Time) entry {
	status, since, address := "-", "-", "-"
	for _, c := range n.Status.Conditions {
		if c.Type == v1.NodeReady {
			status = "NotReady"
			if c.Status == v1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	if !n.CreationTimestamp.IsZero() {
		since = cli.Age(now, n.CreationTimestamp.Time)
	}
	for _, a := range n.Status.Addresses {
		if a.Type == v1.NodeInternalIP {
			address = a.Address
			break
		}
	}
	row := func(age string) []string {
		return []string{n.Name, status, age, cmp.Or(n.Status.NodeInfo.KubeletVersion, "-"), address, taintText(n.Spec.Taints)}
	}
	e := entry{key: n.Name, name: n.Name, object: n, cells: row(since), stable: row(""), gone: row(since)}
	for _, c := range n.Status.Conditions {
		bad := c.Status == v1.ConditionTrue
		if c.Type == v1.NodeReady {
			bad = c.Status != v1.ConditionTrue
		}
		if bad {
			e.notes = append(e.notes, lasting(n.Name+": "+string(c.Type)+" is "+string(c.Status)+": "+c.Message))
		}
	}
	return e
}

func taintText(taints []v1.Taint) string {
	var all []string
	for i := range taints {
		all = append(all, taints[i].ToString())
	}
	return cmp.Or(strings.Join(all, ","), "-")
}
