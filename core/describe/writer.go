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

// none is the placeholder for a missing value.
const none = "<none>"

// writer writes rows with aligned cells, as kubectl does.
type writer struct{ tabs *tabwriter.Writer }

func newWriter(w io.Writer) *writer { return &writer{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

// row writes one line of cells, indented by two spaces for each level. The content of a cell never
// looks like two cells or another line.
func (w *writer) row(level int, cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = printable.Line(fmt.Sprint(cell))
	}
	fmt.Fprintln(w.tabs, strings.Repeat("  ", level)+strings.Join(texts, "\t"))
}

// rowIf is row, but writes nothing if the value is missing.
func (w *writer) rowIf(level int, label, value string) {
	if value != "" {
		w.row(level, label, value)
	}
}

// list writes values one per line. Like kubectl, it indents the values by one more level.
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

// maxAnnotation is the maximum number of an annotation's bytes in one line.
const maxAnnotation = 140

// annotations returns the lines of annotations. A long or multi-line value is below its key.
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

// shorten returns at most size bytes of s, with dots in place of the rest.
func shorten(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return s[:size] + "..."
}

// or returns the text at p, or otherwise if p is nil.
func or[T any](p *T, otherwise string) string {
	if p == nil {
		return otherwise
	}
	return fmt.Sprint(*p)
}

func isSet(flag *bool) bool { return flag != nil && *flag }
