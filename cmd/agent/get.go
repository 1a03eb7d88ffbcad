package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Show what the agent knows",
		Args:  knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{errors.New("say what to get: pods or sources"), cmd.CommandPath()}
		},
	}
	a.addSocketFlag(cmd)
	cmd.AddCommand(a.getPodsCommand(), a.getSourcesCommand())
	return cmd
}

// getFlags are those of every `get` subcommand.
type getFlags struct {
	output string
	watch  bool
}

func (f *getFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", formatTable, "table, wide, json or yaml")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on, and print what changes; tables show what is gone as Gone")
}

func (f *getFlags) check(cmd *cobra.Command) error {
	if !isFormat(f.output) {
		return &usageError{fmt.Errorf("unknown output %q; want table, wide, json or yaml", f.output), cmd.CommandPath()}
	}
	return nil
}

// entry is one thing `get` shows.
type entry struct {
	// key tells it from others, name is what an argument names it by.
	key, name string
	cells     []string
	// stable is cells without ages: a watch prints an entry when it changes.
	stable []string
	// gone is cells for when it is there no longer.
	gone []string
	// notes are lines below the table.
	notes []string
	// object is what json and yaml print.
	object any
}

// getter is one `get` command line.
type getter struct {
	app   *app
	flags getFlags
	// kind is the singular: "pod".
	kind    string
	columns []string
	names   []string
	list    func(context.Context) ([]entry, error)

	table table
}

// run prints the entries once, or until ctx ends.
func (g *getter) run(ctx context.Context) error {
	g.table.w = g.app.out
	entries, missing, err := g.ask(ctx)
	if err != nil {
		return err
	}
	switch {
	case !isObjectFormat(g.flags.output):
		g.printRows(entries, true)
	case g.flags.watch:
		err = g.printEach(entries)
	default:
		err = g.printObjects(entries)
	}
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s %s not found; \"wardlet get %ss\" shows all", g.kind, strings.Join(missing, ", "), g.kind)
	}
	if !g.flags.watch {
		return nil
	}
	return g.watch(ctx, entries)
}

// ask gives the entries that were asked for, and the names there are none of.
func (g *getter) ask(ctx context.Context) (entries []entry, missing []string, err error) {
	all, err := g.list(ctx)
	if err != nil || len(g.names) == 0 {
		return all, nil, err
	}
	for _, name := range g.names {
		if !slices.ContainsFunc(all, func(e entry) bool { return e.name == name }) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	for _, e := range all {
		if slices.Contains(g.names, e.name) {
			entries = append(entries, e)
		}
	}
	return entries, missing, nil
}

func (g *getter) printRows(entries []entry, header bool) {
	if len(entries) == 0 {
		if len(g.names) == 0 {
			fmt.Fprintf(g.app.errOut, "No %ss found.\n", g.kind)
		}
		return
	}
	var rows [][]string
	var notes []string
	if header {
		rows = append(rows, g.columns)
	}
	for _, e := range entries {
		rows = append(rows, e.cells)
		notes = append(notes, e.notes...)
	}
	g.table.print(rows...)
	if len(notes) > 0 {
		fmt.Fprintln(g.app.out)
	}
	for _, note := range notes {
		fmt.Fprintln(g.app.out, note)
	}
}

// printObjects prints the one object asked for, or a list.
func (g *getter) printObjects(entries []entry) error {
	if len(g.names) == 1 && len(entries) == 1 {
		return printObject(g.app.out, g.flags.output, entries[0].object)
	}
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{"v1", "List", []any{}}
	for _, e := range entries {
		list.Items = append(list.Items, e.object)
	}
	return printObject(g.app.out, g.flags.output, list)
}

// printEach prints objects one after the other, as a watch does.
func (g *getter) printEach(entries []entry) error {
	for _, e := range entries {
		if g.flags.output == formatYAML {
			fmt.Fprintln(g.app.out, "---")
		}
		if err := printObject(g.app.out, g.flags.output, e.object); err != nil {
			return err
		}
	}
	return nil
}
