package main

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/wardlet/wardlet/core/pod"
)

func (a *app) getDecisionsCommand() *cobra.Command {
	var flags getFlags
	var namespace string
	var all bool
	cmd := &cobra.Command{
		Use:     "decisions [POD...]",
		Aliases: []string{"decision"},
		Short:   "Show what the policies have decided, newest last",
		Long: "Shows the newest decisions of the policies, those on all pods or those on the pods that\n" +
			"are named. COUNT is how often the same was decided on the same version of a pod. json and\n" +
			"yaml show what each policy had to say.",
		Example: "  wardlet get decisions\n  wardlet get decisions web-edge-1 -n default\n  wardlet get decisions -w\n  wardlet get decisions web-edge-1 -o yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			if all {
				namespace = ""
			}
			c, err := a.agentClient(cmd)
			if err != nil {
				return err
			}
			p := decisionPrinter{namespace: namespace, wide: flags.output == formatWide, now: a.now}
			g := getter{
				app: a, flags: flags, kind: "decision", subject: "decision on pod", kinds: "decisions", columns: p.columns(),
				names: names, several: true,
			}
			g.list = func(ctx context.Context) (listing, error) {
				var list []pod.Decision
				if err := c.Get(ctx, decisionsPath(namespace, names), &list); err != nil {
					return listing{}, err
				}
				return listing{entries: p.entries(list)}, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only decisions on pods of this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "decisions on pods of all namespaces, as without --namespace")
	return cmd
}

// decisionsPath asks for no more than is shown, where the agent can narrow it.
func decisionsPath(namespace string, names []string) string {
	query := url.Values{}
	if namespace != "" {
		query.Set("namespace", namespace)
	}
	if len(names) == 1 {
		query.Set("name", names[0])
	}
	if len(query) == 0 {
		return "/v1/decisions"
	}
	return "/v1/decisions?" + query.Encode()
}

// decisionPrinter makes table rows of decisions.
type decisionPrinter struct {
	// namespace narrows the list; empty: all, with a column that tells.
	namespace string
	wide      bool
	now       func() time.Time
}

func (p decisionPrinter) columns() []string {
	columns := []string{"LAST", "COUNT", "NAMESPACE", "POD", "HOOK", "OPERATION", "VERDICT", "POLICY", "REASON", "MESSAGE"}
	if p.namespace != "" {
		columns = slices.Delete(columns, 2, 3)
	}
	if p.wide {
		columns = append(columns, "SOURCE", "DOCUMENT", "INSTANCE")
	}
	return columns
}

func (p decisionPrinter) entries(list []pod.Decision) []entry {
	slices.SortStableFunc(list, func(a, b pod.Decision) int { return a.Last.Compare(b.Last) })
	entries := make([]entry, len(list))
	for i := range list {
		entries[i] = p.entry(&list[i])
	}
	return entries
}

func (p decisionPrinter) entry(d *pod.Decision) entry {
	v := &d.Verdict
	row := func(last string) []string {
		cells := []string{last, strconv.Itoa(d.Count)}
		if p.namespace == "" {
			cells = append(cells, d.Namespace)
		}
		cells = append(cells, d.Name, orNone(d.Hook), orNone(string(d.Op)), string(v.Answer),
			orNone(v.Policy), orNone(oneLine(v.Reason)), orNone(oneLine(v.Message)))
		if p.wide {
			cells = append(cells, orNone(d.Source), orNone(d.Document), orNone(d.Instance))
		}
		return cells
	}
	// A record that makes room for newer ones is no news: there is no gone.
	return entry{
		key: strings.Join([]string{
			string(d.UID), d.Instance, d.Hook, string(d.Op), d.First.Format(time.RFC3339Nano), string(v.Answer), v.Policy, v.Reason, v.Message,
		}, "\x00"),
		name: d.Name, object: d,
		cells:  row(duration.HumanDuration(p.now().Sub(d.Last)) + " ago"),
		stable: row(""),
	}
}
