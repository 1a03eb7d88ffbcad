package get

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
)

func (a *app) getSourcesCommand() *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "sources [NAME...]",
		Aliases: []string{"source"},
		Short:   "Show the sources of pods, and what is wrong with them",
		Long: "Shows the sources of the configuration. STATE is Ready; Waiting until the source was read for the\n" +
			"first time; Error while it cannot be read. The lines below say why a source cannot be read, which\n" +
			"documents cannot be used, and which files are ignored because of their names.",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			g := getter{app: a, flags: flags, kind: "source", kinds: "sources", columns: sourceColumns, names: names}
			g.list = func(ctx context.Context) (listing, error) {
				var list []api.SourceState
				if err := c.Get(ctx, "/v1/sources", &list); err != nil {
					return listing{}, err
				}
				entries := make([]entry, len(list))
				for i := range list {
					entries[i] = sourceEntry(&list[i], a.Now())
				}
				return listing{entries: entries}, nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	return cmd
}

var sourceColumns = []string{"NAME", "KIND", "LOCATION", "STATE", "DOCUMENTS", "BAD", "LAST READ"}

func sourceEntry(s *api.SourceState, now time.Time) entry {
	state, read := "Ready", "never"
	switch {
	case s.Err != "":
		state = "Error"
	case !s.Seen:
		state = "Waiting"
	}
	if !s.LastRead.IsZero() {
		read = cli.Age(now, s.LastRead) + " ago"
	}
	row := func(state, read string) []string {
		return []string{s.Name, s.Kind, s.Location, state, strconv.Itoa(s.Documents), strconv.Itoa(s.Bad), read}
	}
	return entry{
		key: s.Name, name: s.Name, object: s,
		cells:  row(state, read),
		stable: row(state, ""),
		gone:   row("Gone", read),
		notes:  sourceNotes(s),
	}
}

// maxProblems is how many bad documents of a source are shown below the table.
const maxProblems = 100

func sourceNotes(s *api.SourceState) []note {
	var notes []note
	switch {
	case s.Err != "" && s.Seen:
		notes = append(notes, lasting(fmt.Sprintf("%s: %s (what was read last stays in force)", s.Name, s.Err)))
	case s.Err != "":
		notes = append(notes, lasting(fmt.Sprintf("%s: %s (never read; what runs from it runs on)", s.Name, s.Err)))
	}
	for i, p := range s.Problems {
		if i == maxProblems {
			more := fmt.Sprintf("%s: and %d more bad documents; -o json shows all", s.Name, len(s.Problems)-i)
			notes = append(notes, lasting(more))
			break
		}
		text := p.Message
		switch {
		case p.Running:
			text += " (running on the last valid version)"
		case p.Kept:
			text += " (its last valid version stays)"
		}
		notes = append(notes, lasting(text))
		for _, more := range p.More {
			notes = append(notes, lasting(more))
		}
	}
	if ignored := s.Ignored.String(); ignored != "" {
		notes = append(notes, lasting(s.Name+": "+ignored))
	}
	return notes
}
