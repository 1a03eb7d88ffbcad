package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) getDecisionsCommand() *cobra.Command {
	var flags getFlags
	var filter decisionFilter
	cmd := &cobra.Command{
		Use:     "decisions [POD...]",
		Aliases: []string{"decision"},
		Short:   "Show the decisions of the policies, the newest last",
		Long: "Shows the newest decisions about all pods, or about the pods that are named, NAME or\n" +
			"NAMESPACE/NAME; a pod of a manifest can be named as in the manifest, too. COUNT is how often the\n" +
			"same policies decided the same about the same version of a pod. json and yaml show what each\n" +
			"policy answered and read. Decisions are on record: those from before a restart are shown, too.",
		Example: "  wardlet get decisions\n  wardlet get decisions default/web\n  wardlet get decisions --answer deny --since 1h\n" +
			"  wardlet get decisions --policy allowed-images --hook admit --limit 20\n  wardlet get decisions -w\n" +
			"  wardlet get decisions web-edge-1 -n default -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			names, err := filter.take(cmd, args)
			if err != nil {
				return cli.WrongUsage(cmd, err)
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			p := decisionPrinter{namespace: filter.namespace, wide: flags.output == cli.FormatWide, now: a.Now}
			g := getter{
				app: a, flags: flags, kind: "decision", subject: "decision on pod", kinds: "decisions", columns: p.columns(),
				names: names, several: true,
			}
			g.list = func(ctx context.Context) (listing, error) {
				var found []foundDecision
				for _, path := range filter.paths(names, a.Now()) {
					var list []api.Decision
					if err := c.Get(ctx, path.path, &list); err != nil {
						return listing{}, err
					}
					for i := range list {
						found = append(found, foundDecision{&list[i], path.name})
					}
				}
				return p.list(found), nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	filter.add(cmd)
	return cmd
}

// foundDecision is a decision, and the name by which the command line selected it, empty for none.
type foundDecision struct {
	*api.Decision

	name string
}

// decisionPrinter makes table rows of decisions.
type decisionPrinter struct {
	// namespace narrows the list. If it is empty, all namespaces are listed, with a namespace column.
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
		columns = append(columns, "TENANT", "SOURCE", "DOCUMENT", "INSTANCE", "RECORD")
	}
	return columns
}

// list orders decisions by time.
func (p decisionPrinter) list(found []foundDecision) (l listing) {
	slices.SortStableFunc(found, func(a, b foundDecision) int { return a.Last.Compare(b.Last) })
	unkept, why := 0, ""
	for _, d := range found {
		e := p.entry(d.Decision)
		if d.name != "" {
			e.name = d.name
		}
		l.entries = append(l.entries, e)
		if d.NotKept != "" {
			unkept, why = unkept+1, d.NotKept
		}
	}
	if unkept > 0 {
		l.notes = append(l.notes, note{
			text:   fmt.Sprintf("not on record, so gone when the agent ends: %d of these; the newest, because %s", unkept, printable.Joined(why)),
			stable: why,
		})
	}
	return l
}

func (p decisionPrinter) entry(d *api.Decision) entry {
	v := &d.Verdict
	message := v.Message
	if d.Connection != "" {
		message = strings.TrimSuffix(d.Connection+"; "+v.Message, "; ")
	}
	row := func(last string) []string {
		cells := []string{last, strconv.Itoa(d.Count)}
		if p.namespace == "" {
			cells = append(cells, d.Namespace)
		}
		cells = append(cells, d.Name, cli.OrNone(d.Hook), cli.OrNone(string(d.Op)), string(v.Answer),
			cli.OrNone(v.Policy), cli.OrNone(printable.Joined(v.Reason)), cli.OrNone(printable.Joined(message)))
		if p.wide {
			cells = append(cells, cli.OrNone(d.Tenant), cli.OrNone(d.Source), cli.OrNone(d.Document), cli.OrNone(d.Instance), cli.OrNone(d.ID))
		}
		return cells
	}
	// A watch does not report a record that was removed to make room for newer ones: gone is not set.
	return entry{
		key: strings.Join([]string{
			string(d.UID), d.Instance, d.Hook, string(d.Op), d.First.Format(time.RFC3339Nano), string(v.Answer), v.Policy, v.Reason, message,
		}, "\x00"),
		name: d.Name, ref: cmp.Or(d.ID, d.Namespace+"/"+d.Name), object: d,
		cells:  row(cli.Age(p.now(), d.Last) + " ago"),
		stable: row(""),
	}
}
