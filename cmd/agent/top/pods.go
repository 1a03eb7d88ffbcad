package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// podFlags are the flags of top pods.
type podFlags struct {
	topFlags

	namespace  string
	all        bool
	containers bool
	sortBy     string
}

func (a *app) podsCommand() *cobra.Command {
	var f podFlags
	cmd := &cobra.Command{
		Use:     "pods [NAME...]",
		Aliases: []string{"pod", "po"},
		Short:   "Show the CPU and memory that pods use",
		Long: "Shows the CPU, in thousandths of a core, and the working set that the containers of pods use. It\n" +
			"shows the pods of all namespaces; --namespace narrows that. A container that has just started has\n" +
			"no CPU usage yet, which is shown as -.",
		Example: "  wardlet top pods\n  wardlet top pods -n kube-system --sort-by cpu\n  wardlet top pod web-edge-1 --containers",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := cmp.Or(f.check(cmd), checkSort(cmd, f.sortBy)); err != nil {
				return err
			}
			if f.all {
				f.namespace = ""
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			var summary statsapi.Summary
			if err := c.Get(cmd.Context(), "/v1/stats", &summary); err != nil {
				return err
			}
			return a.printPods(&f, podUses(&summary), names)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "only pods of this namespace")
	cmd.Flags().BoolVarP(&f.all, "all-namespaces", "A", false, "pods of all namespaces, as without --namespace")
	cmd.Flags().BoolVar(&f.containers, "containers", false, "a row for each container")
	addSortFlag(cmd, &f.sortBy)
	return cmd
}

// podUse is what a pod uses.
type podUse struct {
	use

	namespace, name string
	containers      []containerUse
}

type containerUse struct {
	use

	name string
}

// podUses returns what the containers of pods use. As in kubectl, what a pod uses beside its
// containers is not counted, and a pod without a running container is left out.
func podUses(summary *statsapi.Summary) (pods []podUse) {
	for i := range summary.Pods {
		p := &summary.Pods[i]
		out := podUse{use: use{cpu: new(uint64), memory: new(uint64)}, namespace: p.PodRef.Namespace, name: p.PodRef.Name}
		for j := range p.Containers {
			c := containerUse{useOf(p.Containers[j].CPU, p.Containers[j].Memory), p.Containers[j].Name}
			out.add(&c.use)
			out.containers = append(out.containers, c)
		}
		if len(out.containers) > 0 {
			pods = append(pods, out)
		}
	}
	return pods
}

// printPods prints the pods that flags and names select.
func (a *app) printPods(f *podFlags, pods []podUse, names []string) error {
	pods = slices.DeleteFunc(pods, func(p podUse) bool {
		return f.namespace != "" && p.namespace != f.namespace || len(names) > 0 && !slices.Contains(names, p.name)
	})
	slices.SortFunc(pods, func(a, b podUse) int {
		return cmp.Or(higher(f.sortBy, &a.use, &b.use), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	if err := a.printSelected(f, pods, len(names) == 1); err != nil {
		return err
	}
	var missing []string
	for _, name := range names {
		if !slices.ContainsFunc(pods, func(p podUse) bool { return p.name == name }) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("no running pod %s found; \"wardlet top pods\" shows all", strings.Join(missing, ", "))
	}
	return nil
}

func (a *app) printSelected(f *podFlags, pods []podUse, one bool) error {
	if f.output == cli.FormatTable {
		a.printRows(f, pods, one)
		return nil
	}
	if one && len(pods) == 1 {
		return cli.PrintObject(a.Out, f.output, pods[0].object())
	}
	list := podMetricsList{TypeMeta: metav1.TypeMeta{APIVersion: metricsAPI, Kind: "PodMetricsList"}, Items: []podMetrics{}}
	for i := range pods {
		list.Items = append(list.Items, pods[i].object())
	}
	return cli.PrintObject(a.Out, f.output, list)
}

func (a *app) printRows(f *podFlags, pods []podUse, named bool) {
	if len(pods) == 0 {
		if !named {
			fmt.Fprintln(a.ErrOut, "No pods found.")
		}
		return
	}
	header := []string{"NAME", "CPU(cores)", "MEMORY(bytes)"}
	if f.containers {
		header = slices.Insert(header, 0, "POD")
	}
	var rows [][]string
	row := func(p *podUse, u *use, names ...string) {
		cpu, memory := u.cells()
		cells := slices.Concat(names, []string{cpu, memory})
		if f.namespace == "" {
			cells = slices.Insert(cells, 0, p.namespace)
		}
		rows = append(rows, cells)
	}
	if f.namespace == "" {
		header = slices.Insert(header, 0, "NAMESPACE")
	}
	if !f.noHeaders {
		rows = append(rows, header)
	}
	for i := range pods {
		p := &pods[i]
		if !f.containers {
			row(p, &p.use, p.name)
			continue
		}
		slices.SortStableFunc(p.containers, func(a, b containerUse) int { return higher(f.sortBy, &a.use, &b.use) })
		for j := range p.containers {
			row(p, &p.containers[j].use, p.name, p.containers[j].name)
		}
	}
	(&cli.Table{W: a.Out}).Print(rows...)
}

// podMetrics has the fields of a PodMetrics of metrics.k8s.io/v1beta1 that the agent knows.
type podMetrics struct {
	metav1.TypeMeta `json:",inline"`

	Metadata   metadata           `json:"metadata"`
	Timestamp  metav1.Time        `json:"timestamp"`
	Containers []containerMetrics `json:"containers"`
}

// podMetricsList is a list of these.
type podMetricsList struct {
	metav1.TypeMeta `json:",inline"`

	Items []podMetrics `json:"items"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type containerMetrics struct {
	Name  string          `json:"name"`
	Usage v1.ResourceList `json:"usage"`
}

func (p *podUse) object() podMetrics {
	m := podMetrics{TypeMeta: metav1.TypeMeta{APIVersion: metricsAPI, Kind: "PodMetrics"}, Metadata: metadata{p.name, p.namespace}, Timestamp: p.at}
	for i := range p.containers {
		m.Containers = append(m.Containers, containerMetrics{p.containers[i].name, p.containers[i].list()})
	}
	return m
}
