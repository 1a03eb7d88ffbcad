package top

import (
	"fmt"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

func (a *app) nodeCommand() *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:     "node",
		Aliases: []string{"nodes", "no"},
		Short:   "Show the CPU and memory that the node uses",
		Long: "Shows the CPU, in thousandths of a core, and the working set that everything on the node uses, and\n" +
			"their share of what the node has for pods.",
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) > 0 {
				return cli.WrongUsage(cmd, fmt.Errorf("there is one node, which has no need of a name; found %q", names[0]))
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var summary statsapi.Summary
			if err := c.Get(cmd.Context(), "/v1/stats", &summary); err != nil {
				return err
			}
			n := &v1.Node{}
			if err := c.Get(cmd.Context(), "/v1/node", n); err != nil {
				return err
			}
			return a.printNode(&f, &summary.Node, n)
		},
	}
	f.add(cmd)
	return cmd
}

// nodeMetrics has the fields of a NodeMetrics of metrics.k8s.io/v1beta1 that the agent knows.
type nodeMetrics struct {
	metav1.TypeMeta `json:",inline"`

	Metadata  metadata        `json:"metadata"`
	Timestamp metav1.Time     `json:"timestamp"`
	Usage     v1.ResourceList `json:"usage"`
}

func (a *app) printNode(f *topFlags, measured *statsapi.NodeStats, n *v1.Node) error {
	u := useOf(measured.CPU, measured.Memory)
	if f.output != cli.FormatTable {
		return cli.PrintObject(a.Out, f.output, nodeMetrics{
			TypeMeta: metav1.TypeMeta{APIVersion: metricsAPI, Kind: "NodeMetrics"}, Metadata: metadata{Name: measured.NodeName}, Timestamp: u.at, Usage: u.list(),
		})
	}
	cpu, memory := u.cells()
	row := []string{
		measured.NodeName, cpu, share(u.cpu, n.Status.Allocatable.Cpu().ScaledValue(-9)), memory, share(u.memory, n.Status.Allocatable.Memory().Value()),
	}
	rows := [][]string{{"NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"}, row}
	if f.noHeaders {
		rows = rows[1:]
	}
	(&cli.Table{W: a.Out}).Print(rows...)
	return nil
}

// share returns a part of a whole in percent.
func share(part *uint64, whole int64) string {
	if part == nil || whole <= 0 {
		return unknown
	}
	return fmt.Sprintf("%d%%", int64(float64(*part)/float64(whole)*100))
}
