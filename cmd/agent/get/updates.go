package get

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) getUpdatesCommand() *cobra.Command {
	var flags getFlags
	var namespace string
	var all bool
	cmd := &cobra.Command{
		Use:     "updates [POD...]",
		Aliases: []string{"update"},
		Short:   "Show which updates of pods wait, for which policy, and until when",
		Long: "Shows new versions of pods that have not taken effect. WAIT is the reason: Held and Denied by an\n" +
			"admit policy, and the version before keeps running; Deferred and Dropped by a filter policy, which\n" +
			"may also hold back new pods; Unjudged and Asked if policies have not answered yet, and -o wide\n" +
			"says what that waits for. UNTIL is when an update passes whatever a filter says; \"wardlet release\"\n" +
			"lets it pass earlier.",
		Example: "  wardlet get updates\n  wardlet get updates -n default -o wide\n  wardlet get update web-edge-1 -o yaml\n  wardlet get updates -w",
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
			p := updatePrinter{namespace: namespace, wide: flags.output == cli.FormatWide, now: a.Now}
			g := getter{
				app: a, flags: flags, kind: "update", subject: "update of pod", kinds: "updates", columns: p.columns(),
				names: names, several: true,
			}
			g.list = func(ctx context.Context) (listing, error) {
				var list []api.WaitingUpdate
				if err := c.Get(ctx, "/v1/updates", &list); err != nil {
					return listing{}, err
				}
				return listing{entries: p.entries(list), empty: "No updates wait."}, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only updates of pods of this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "updates of pods of all namespaces, as without --namespace")
	return cmd
}

// updatePrinter makes table rows of updates that wait.
type updatePrinter struct {
	// namespace narrows the list. If it is empty, all namespaces are listed, with a namespace column.
	namespace string
	wide      bool
	now       func() time.Time
}

func (p updatePrinter) columns() []string {
	columns := []string{"NAMESPACE", "NAME", "WAIT", "POLICY", "REASON", "SINCE", "UNTIL"}
	if p.namespace != "" {
		columns = columns[1:]
	}
	if p.wide {
		columns = append(columns, "OPERATION", "AGAIN", "SOURCE", "DOCUMENT", "MESSAGE")
	}
	return columns
}

func (p updatePrinter) entries(list []api.WaitingUpdate) []entry {
	var entries []entry
	for i := range list {
		if p.namespace == "" || p.namespace == list[i].Namespace {
			entries = append(entries, p.entry(&list[i]))
		}
	}
	return entries
}

func (p updatePrinter) entry(u *api.WaitingUpdate) entry {
	row := func(wait, since, until, again string) []string {
		cells := []string{u.Namespace, u.Name, wait, cli.OrNone(u.Policy), cli.OrNone(printable.Joined(u.Reason)), since, until}
		if p.namespace != "" {
			cells = cells[1:]
		}
		if p.wide {
			cells = append(cells, string(u.Op), again, cli.OrNone(u.Source), cli.OrNone(u.Document), cli.OrNone(printable.Joined(u.Message)))
		}
		return cells
	}
	gone := make([]string, len(p.columns()))
	copy(gone, row("Gone", "", "", "")[:1+slices.Index(p.columns(), "WAIT")])
	return entry{
		key:    strings.Join([]string{u.Source, u.Namespace, u.Name, string(u.UID)}, "\x00"),
		name:   u.Name,
		ref:    u.Namespace + "/" + u.Name,
		object: u,
		cells:  row(u.Wait, p.ago(u.Since), p.in(u.Until), p.in(u.Again)),
		stable: row(u.Wait, "", "", ""),
		gone:   gone,
	}
}

// ago returns how long ago since was, or "<none>" for the zero time.
func (p updatePrinter) ago(since time.Time) string {
	if since.IsZero() {
		return cli.OrNone("")
	}
	return cli.Age(p.now(), since) + " ago"
}

// in returns the time that is left until at, or "<none>" for the zero time.
func (p updatePrinter) in(at time.Time) string {
	if at.IsZero() {
		return cli.OrNone("")
	}
	return "in " + duration.HumanDuration(max(at.Sub(p.now()), 0))
}
