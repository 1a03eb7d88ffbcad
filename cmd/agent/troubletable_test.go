package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources returns the text of all Go files of the product, without its tests.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range []string{"../../core", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestTroubleTable_quotesWhatIsPrinted looks for each quotation of the table "Trouble" in the
// product's code. An operator who searches the table for a line of the log must find it.
func TestTroubleTable_quotesWhatIsPrinted(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(document), "\n## Trouble\n")
	if !found {
		t.Fatal("docs/operations.md has no section Trouble")
	}
	printed := sources(t)
	quoted := regexp.MustCompile("`([^`]+)`")
	quotations := 0
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.HasPrefix(line, "|") && len(cells) != 4 {
			t.Errorf("a row of the trouble table has not two cells: %s", line)
		}
		if len(cells) < 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, quotation := range quoted.FindAllStringSubmatch(cells[1], -1) {
			quotations++
			if !strings.Contains(printed, quotation[1]) {
				t.Errorf("the trouble table has a row for %q, which no code prints", quotation[1])
			}
		}
	}
	if quotations < 20 {
		t.Errorf("the table has only %d quotations; is it read as it is written?", quotations)
	}
}
