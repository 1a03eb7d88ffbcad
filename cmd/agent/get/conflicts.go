package get

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) getConflictsCommand() *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "conflicts [NAME...]",
		Aliases: []string{"conflict"},
		Short:   "Show pods that several documents define, and which of these runs",
		Long: "Shows the pods that several documents define, by namespace and name, or by the annotation\n" +
			pod.AnnotationIdentity + ". RULE is what decides: isolate runs one document of each\n" +
			"source, precedence the one of the first source in conflicts.precedence, policy the one\n" +
			"that a merge policy names. The lines below say what happened to each document.",
		Example: "  wardlet get conflicts\n  wardlet get conflict web -o yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			g := getter{app: a, flags: flags, kind: "conflict", kinds: "conflicts", columns: conflictColumns, names: names, several: true}
			g.list = func(ctx context.Context) (listing, error) {
				var list []api.Conflict
				if err := c.Get(ctx, "/v1/conflicts", &list); err != nil {
					return listing{}, err
				}
				l := listing{empty: "No conflicts: every pod is claimed by one document."}
				for i := range list {
					l.entries = append(l.entries, conflictEntry(&list[i], a.Now()))
				}
				return l, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	return cmd
}

var conflictColumns = []string{"NAMESPACE", "NAME", "RULE", "RUNS", "DOES NOT RUN", "AGE"}

func conflictEntry(c *api.Conflict, now time.Time) entry {
	var runs, others []string
	var notes []note
	for i := range c.Claims {
		claim := &c.Claims[i]
		if claim.State == api.ClaimRuns || claim.State == api.ClaimGivesWay {
			runs = append(runs, claim.Source)
		} else {
			others = append(others, claim.Source)
		}
		notes = append(notes, lasting(claimInWords(c, claim)))
	}
	if c.Message != "" {
		notes = append(notes, lasting(fmt.Sprintf("%s/%s: decided by %s", c.Namespace, c.Name, printable.Joined(c.Message))))
	}
	row := func(age string) []string {
		return []string{c.Namespace, c.Name, c.Rule, someOf(runs), someOf(others), age}
	}
	return entry{
		key: c.Namespace + "/" + c.Name, name: c.Name, ref: c.Namespace + "/" + c.Name, object: c, notes: notes,
		cells:  row(cli.Age(now, c.Since)),
		stable: row(""),
		gone:   []string{c.Namespace, c.Name, "Gone", "", "", ""},
	}
}

func someOf(sources []string) string { return cmp.Or(strings.Join(sources, ","), "<none>") }

// claimInWords describes the state of one document in a conflict.
func claimInWords(c *api.Conflict, claim *api.Claim) string {
	became := map[api.ClaimState]string{
		api.ClaimRuns:     "runs",
		api.ClaimWaits:    "waits",
		api.ClaimGivesWay: "gives way",
		api.ClaimRefused:  "is denied",
		api.ClaimLost:     "does not run",
	}[claim.State]
	text := fmt.Sprintf("%s/%s: %s of source %s %s", c.Namespace, c.Name, cli.FileOf(claim.Document), claim.Source, became)
	if claim.Message != "" {
		text += ": " + printable.Joined(claim.Message)
	}
	return text
}
