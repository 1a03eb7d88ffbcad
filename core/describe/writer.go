package describe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/printable"
)

// none stands for a value that is not there.
const none = "<none>"

// writer writes rows whose cells stand below each other, as kubectl's do.
type writer struct{ tabs *tabwriter.Writer }

func newWriter(w io.Writer) *writer { return &writer{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

// row writes one line of cells, indented by two blanks for each level. No cell looks like two or like another line.
func (w *writer) row(level int, cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = printable.Line(fmt.Sprint(cell))
	}
	fmt.Fprintln(w.tabs, strings.Repeat("  ", level)+strings.Join(texts, "\t"))
}

// rowIf is row for a value that may be missing: it then writes nothing.
func (w *writer) rowIf(level int, label, value string) {
	if value != "" {
		w.row(level, label, value)
	}
}

// list writes values below each other. Like kubectl it indents each value once more.
func (w *writer) list(level int, label string, values []string) {
	if len(values) == 0 {
		w.row(level, label, none)
		return
	}
	indent := strings.Repeat("  ", level)
	for i, value := range values {
		if i > 0 {
			label = indent
		}
		w.row(level, label, indent+value)
	}
}

// pairs returns the entries of a map as key=value, sorted.
func pairs(m map[string]string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+"="+m[key])
	}
	return all
}

// maxAnnotation is how many bytes of an annotation one line shows.
const maxAnnotation = 140

// annotations returns the lines of annotations. A value that is long or has several lines stands below its key.
func annotations(m map[string]string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == v1.LastAppliedConfigAnnotation {
			continue
		}
		value := strings.TrimSuffix(m[key], "\n")
		if len(value)+len(key)+2 <= maxAnnotation && !strings.Contains(value, "\n") {
			all = append(all, key+": "+value)
			continue
		}
		all = append(all, key+":")
		for line := range strings.SplitSeq(value, "\n") {
			all = append(all, "  "+shorten(line, maxAnnotation-2))
		}
	}
	return all
}

// shorten returns at most size bytes of s, with dots where something was left out.
func shorten(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return s[:size] + "..."
}

// or returns what a pointer points to, or else a text.
func or[T any](p *T, otherwise string) string {
	if p == nil {
		return otherwise
	}
	return fmt.Sprint(*p)
}

func isSet(flag *bool) bool { return flag != nil && *flag }
