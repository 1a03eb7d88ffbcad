package get

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/printable"
)

// getter is one `get` command line.
type getter struct {
	app   *app
	flags getFlags
	// kind and kinds are the singular and the plural: "pod" and "pods".
	kind, kinds string
	// subject is the noun in "not found" errors; empty: kind.
	subject string
	columns []string
	names   []string
	// several means that one name may select several entries. Then even one object is printed as a
	// list.
	several bool
	// listKind is the kind of a list of these objects, if the API has one.
	listKind string
	list     func(context.Context) (listing, error)
	// stream passes on all entries, and then repeatedly those that changed or are gone, until ctx ends
	// or an error occurs. It is nil if the agent cannot report changes: then a watch polls.
	stream func(ctx context.Context, batch func(listing) error) error

	table cli.Table
}

// run prints the entries once or, with a watch, until ctx ends.
func (g *getter) run(ctx context.Context) error {
	g.table.W = g.app.Out
	if g.flags.watch && g.stream != nil {
		return g.follow(ctx)
	}
	all, err := g.list(ctx)
	if err != nil {
		return err
	}
	shown, err := g.begin(all)
	if err != nil || !g.flags.watch {
		return err
	}
	return g.watch(ctx, shown)
}

// begin prints the selected entries and returns them.
func (g *getter) begin(all listing) (shown listing, err error) {
	shown = g.asked(all)
	switch {
	case cli.IsTableFormat(g.flags.output):
		g.printRows(shown, true)
	case g.flags.watch:
		err = g.printEach(shown)
	default:
		err = g.printObjects(shown)
	}
	if err != nil {
		return shown, err
	}
	var missing []string
	for _, name := range g.names {
		if !slices.ContainsFunc(shown.entries, func(e entry) bool { return e.name == name }) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) > 0 {
		return shown, fmt.Errorf("%s %s not found; \"wardlet get %s\" shows all",
			cmp.Or(g.subject, g.kind), strings.Join(missing, ", "), g.kinds)
	}
	return shown, nil
}

// asked returns the entries that the command line selects.
func (g *getter) asked(all listing) listing {
	if len(g.names) > 0 {
		all.entries = slices.DeleteFunc(all.entries, func(e entry) bool { return !slices.Contains(g.names, e.name) })
	}
	return all
}

func (g *getter) printRows(l listing, header bool) {
	var rows [][]string
	var notes []note
	for _, e := range l.entries {
		rows = append(rows, e.cells)
		notes = append(notes, e.notes...)
	}
	switch {
	case len(rows) > 0 && header && !g.flags.noHeaders:
		rows = slices.Insert(rows, 0, g.columns)
	case len(rows) == 0 && header && l.empty != "":
		fmt.Fprintln(g.app.ErrOut, l.empty)
	case len(rows) == 0 && header && len(l.notes) == 0 && len(g.names) == 0:
		fmt.Fprintf(g.app.ErrOut, "No %s found.\n", g.kinds)
	}
	g.table.Print(rows...)
	notes = append(notes, l.notes...)
	out := g.app.Out
	if g.flags.noHeaders {
		out = g.app.ErrOut
	} else if len(rows) > 0 && len(notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range notes {
		fmt.Fprintln(out, printable.Line(n.text))
	}
}

// printObjects prints the one selected object, a list of objects, or names.
func (g *getter) printObjects(l listing) error {
	if g.flags.output == cli.FormatName {
		g.printWhyNone(l)
		return g.printEach(l)
	}
	if len(g.names) == 1 && len(l.entries) == 1 && !g.several {
		return cli.PrintObject(g.app.Out, g.flags.output, l.entries[0].object)
	}
	g.printWhyNone(l)
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{"v1", cmp.Or(g.listKind, "List"), []any{}}
	for _, e := range l.entries {
		list.Items = append(list.Items, e.object)
	}
	return cli.PrintObject(g.app.Out, g.flags.output, list)
}

// printWhyNone prints the explanation that a table would have below it, if the list of objects or
// names is empty.
func (g *getter) printWhyNone(l listing) {
	if len(l.entries) > 0 {
		return
	}
	if l.empty != "" {
		fmt.Fprintln(g.app.ErrOut, l.empty)
	}
	for _, n := range l.notes {
		fmt.Fprintln(g.app.ErrOut, printable.Line(n.text))
	}
}

// printEach prints objects or names one after the other, as a watch requires.
func (g *getter) printEach(l listing) error {
	for _, e := range l.entries {
		switch g.flags.output {
		case cli.FormatName:
			fmt.Fprintln(g.app.Out, printable.Line(g.kind+"/"+cmp.Or(e.ref, e.name)))
			continue
		case cli.FormatYAML:
			fmt.Fprintln(g.app.Out, "---")
		}
		if err := cli.PrintObject(g.app.Out, g.flags.output, e.object); err != nil {
			return err
		}
	}
	return nil
}
