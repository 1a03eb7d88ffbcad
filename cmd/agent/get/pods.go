package get

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/describe"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) getPodsCommand() *cobra.Command {
	var flags getFlags
	var namespace string
	var all, showEnv bool
	cmd := &cobra.Command{
		Use:     "pods [NAME...]",
		Aliases: []string{"pod", "po"},
		Short:   "Show the pods of this node",
		Long: "Shows the pods of all namespaces; --namespace narrows that. The lines below the table say which\n" +
			"versions of these pods are held or denied, and which containers are not ready, with the reasons.\n" +
			"Values of environment variables are left out of json and yaml unless --show-env asks for them.",
		Example: "  wardlet get pods\n  wardlet get pods -n kube-system -o wide\n  wardlet get pod web-edge-1 -o yaml\n  wardlet get pods -w",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			if all {
				namespace = ""
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			p := podPrinter{
				namespace: namespace, table: cli.IsTableFormat(flags.output), wide: flags.output == cli.FormatWide, now: a.Now,
			}
			g := getter{app: a, flags: flags, kind: "pod", listKind: "PodList", kinds: "pods", columns: p.columns(), names: names}
			g.list = func(ctx context.Context) (listing, error) { return p.list(ctx, c, showEnv) }
			g.stream = func(ctx context.Context, batch func(listing) error) error {
				return p.stream(ctx, c, showEnv, a.Poll, batch)
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	cmd.Flags().Lookup("watch").Usage = "go on, and print a pod again whenever it has changed, also when it is gone"
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only pods of this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "pods of all namespaces, as without --namespace")
	cmd.Flags().BoolVar(&showEnv, "show-env", false, "show the values of environment variables in json and yaml")
	return cmd
}

// podPrinter makes table rows of pods.
type podPrinter struct {
	// namespace narrows the list. If it is empty, all namespaces are listed, with a namespace column.
	namespace string
	// table is false if whole objects or names are printed, without notes.
	table, wide bool
	now         func() time.Time
}

// list requests pods and, for a table, the data that its notes need.
func (p podPrinter) list(ctx context.Context, c *client.Client, showEnv bool) (listing, error) {
	path := "/v1/pods"
	if showEnv {
		path += "?env=show"
	}
	var pods v1.PodList
	if err := c.Get(ctx, path, &pods); err != nil {
		return listing{}, err
	}
	var waits []api.Waiting
	var events []api.Event
	if p.table {
		if err := c.Get(ctx, "/v1/waiting", &waits); err != nil {
			return listing{}, err
		}
		var err error
		if events, err = probeEvents(ctx, c, pods.Items); err != nil {
			return listing{}, err
		}
	}
	l := listing{entries: p.entries(pods.Items, waits, events)}
	if p.wide {
		l.notes = foreignNotes(ctx, c)
	}
	return l, nil
}

// probeEvents returns the agent's events if a pod has a container that its probes keep unready,
// else none.
func probeEvents(ctx context.Context, c *client.Client, pods []v1.Pod) (events []api.Event, err error) {
	if slices.ContainsFunc(pods, func(p v1.Pod) bool { return describe.NeedsEvents(&p) }) {
		err = c.Get(ctx, "/v1/events", &events)
	}
	return events, err
}

// foreignNotes describes how many pods in the runtime belong to other programs.
func foreignNotes(ctx context.Context, c *client.Client) []note {
	var foreign api.ForeignPods
	err := c.Get(ctx, "/v1/foreign", &foreign)
	switch {
	case err != nil:
		return []note{lasting(fmt.Sprintf("foreign pods on this runtime cannot be counted: %v", err))}
	case foreign.Pods == 1:
		return []note{lasting("1 foreign pod on this runtime, not touched")}
	case foreign.Pods > 1:
		return []note{lasting(fmt.Sprintf("%d foreign pods on this runtime, not touched", foreign.Pods))}
	}
	return nil
}

func (p podPrinter) columns() []string {
	columns := []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}
	if p.namespace == "" {
		columns = append([]string{"NAMESPACE"}, columns...)
	}
	if p.wide {
		columns = append(columns, "IP", "SOURCE", "QOS", "UID")
	}
	return columns
}

func (p podPrinter) entries(pods []v1.Pod, waits []api.Waiting, events []api.Event) []entry {
	cli.SortPods(pods)
	var entries []entry
	for i := range pods {
		if p.namespace == "" || p.namespace == pods[i].Namespace {
			e := p.entry(&pods[i])
			if p.table {
				e.notes = podNotes(&pods[i], waits, events, p.now())
			}
			entries = append(entries, e)
		}
	}
	return entries
}

func (p podPrinter) entry(o *v1.Pod) entry {
	s := describe.Summarize(o)
	ready, status, restarts := s.Cells(p.now())
	cells := []string{o.Name, ready, status, restarts, p.age(o)}
	if p.namespace == "" {
		cells = append([]string{o.Namespace}, cells...)
	}
	if p.wide {
		cells = append(cells, cli.OrNone(o.Status.PodIP), cli.OrNone(o.Annotations[pod.AnnotationSource]),
			cli.OrNone(string(o.Status.QOSClass)), string(o.UID))
	}
	return entry{key: string(o.UID), name: o.Name, ref: o.Namespace + "/" + o.Name, object: o, cells: cells}
}

// age is the time since the creation or, for pods of files, which have no creation time, since the
// start.
func (p podPrinter) age(o *v1.Pod) string {
	since := o.CreationTimestamp
	if since.IsZero() && o.Status.StartTime != nil {
		since = *o.Status.StartTime
	}
	if since.IsZero() {
		return "<unknown>"
	}
	return cli.Age(p.now(), since.Time)
}
