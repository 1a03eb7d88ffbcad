package main

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
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
)

// formatNames are the formats of `get` as help and errors name them.
const formatNames = "table, wide, json, yaml or name"

func isFormat(f string) bool {
	return slices.Contains([]string{formatTable, formatWide, formatJSON, formatYAML, formatName}, f)
}

// isTableFormat reports whether f prints rows, and notes below them.
func isTableFormat(f string) bool { return f == formatTable || f == formatWide }

// isObjectFormat reports whether f prints whole objects.
func isObjectFormat(f string) bool { return f == formatJSON || f == formatYAML }

// addObjectFlag adds --output to a command that prints lines, or one object.
func addObjectFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "json or yaml (default: lines to read)")
}

func printObject(w io.Writer, format string, v any) error {
	if format == formatYAML {
		return printable.WriteYAML(w, v)
	}
	return printable.WriteJSON(w, v)
}

// table prints aligned columns. It remembers their widths, so that rows
// printed later stay in line.
type table struct {
	w      io.Writer
	widths []int
}

// print prints rows of equally many cells, whatever these hold: a cell never looks
// like two, or like a row.
func (t *table) print(rows ...[]string) {
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
		fmt.Fprintln(t.w, line.String())
	}
}
