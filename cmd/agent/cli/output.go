package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/printable"
)

// The formats of `get`.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
)

// FormatNames lists the formats of `get` for help and errors.
const FormatNames = "table, wide, json, yaml or name"

// IsFormat reports whether f is a format of `get`.
func IsFormat(f string) bool {
	return slices.Contains([]string{FormatTable, FormatWide, FormatJSON, FormatYAML, FormatName}, f)
}

// IsTableFormat reports whether f prints rows with notes below them.
func IsTableFormat(f string) bool { return f == FormatTable || f == FormatWide }

// IsObjectFormat reports whether f prints whole objects.
func IsObjectFormat(f string) bool { return f == FormatJSON || f == FormatYAML }

// AddObjectFlag adds --output to a command that prints lines, or one object.
func AddObjectFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "json or yaml (default: lines to read)")
}

// PrintObject prints an object as YAML or JSON.
func PrintObject(w io.Writer, format string, v any) error {
	if format == FormatYAML {
		return printable.WriteYAML(w, v)
	}
	return printable.WriteJSON(w, v)
}

// Table prints aligned columns. It remembers their widths, so that rows
// printed later stay in line.
type Table struct {
	W      io.Writer
	widths []int
}

// Print prints rows with equal numbers of cells. The content of a cell never looks like a second
// cell or another row.
func (t *Table) Print(rows ...[]string) {
	for r, row := range rows {
		rows[r] = make([]string, len(row))
		for i, cell := range row {
			if i < len(row)-1 {
				rows[r][i] = printable.Cell(cell)
			} else {
				rows[r][i] = printable.Line(cell)
			}
		}
	}
	for _, row := range rows {
		t.widths = append(t.widths, make([]int, max(0, len(row)-len(t.widths)))...)
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell)+3))
			}
		}
		fmt.Fprintln(t.W, line.String())
	}
}
