package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// measure is one line of the table.
type measure struct {
	what, value string
	// limit is empty for a measure without a limit.
	limit  string
	missed bool
	// why is printed below the table.
	why error
}

// measured returns the line for a number of bytes. A limit of 0 stands for none.
func measured(what string, bytes, limit int64) measure {
	m := measure{what: what, value: megabytes(bytes), missed: limit > 0 && bytes > limit}
	if limit > 0 {
		m.limit = "at most " + megabytes(limit)
	}
	return m
}

// broken returns the line for something that does not build, and so has no size.
func broken(what string, err error) measure {
	return measure{what: what, value: "does not build", limit: "builds", missed: true, why: err}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// printTable prints the lines and returns how many limits were missed.
func printTable(w io.Writer, lines []measure) (missed int) {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "MEASURE\tVALUE\tLIMIT\t")
	for _, m := range lines {
		verdict := ""
		switch {
		case m.missed:
			verdict = "MISSED"
			missed++
		case m.limit != "":
			verdict = "ok"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.what, m.value, m.limit, verdict)
	}
	table.Flush()
	for _, m := range lines {
		if m.why != nil {
			fmt.Fprintf(w, "\n%s: %v\n", m.what, m.why)
		}
	}
	return missed
}
