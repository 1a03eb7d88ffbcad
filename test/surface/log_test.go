package surface

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata anew")

// levels are the methods of a slog.Logger that write a line.
var levels = []string{"Debug", "Info", "Warn", "Error"}

// TestLog_hasTheSameMessagesAndKeys compares each line that the product may log with the recorded
// lines, because operators search and alert by them.
func TestLog_hasTheSameMessagesAndKeys(t *testing.T) {
	t.Parallel()
	var found []string
	for _, dir := range []string{"../../core", "../../cmd"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if line, ok := logged(n); ok {
					found = append(found, line)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) < 50 {
		t.Fatalf("only %d messages: calls of the logger are not recognised any more", len(found))
	}
	const golden = "testdata/log.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(found, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	recorded := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range found {
		if !slices.Contains(recorded, line) {
			t.Errorf("new: %s", line)
		}
	}
	for _, line := range recorded {
		if !slices.Contains(found, line) {
			t.Errorf("gone: %s", line)
		}
	}
	if t.Failed() {
		t.Log("go test ./test/surface -update writes testdata/log.txt anew, where the change is meant")
	}
}

// logged returns the message and keys of a call of a logger's method.
func logged(n ast.Node) (line string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(levels, method.Sel.Name) {
		return "", false
	}
	message, ok := literal(call.Args[0])
	if !ok {
		return "", false
	}
	parts := []string{strings.ToUpper(method.Sel.Name), strconv.Quote(message)}
	for i := 1; i < len(call.Args); i += 2 {
		key, ok := literal(call.Args[i])
		if !ok {
			key = "..."
		}
		parts = append(parts, key)
	}
	return strings.Join(parts, " "), true
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
