package author

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/replay"
)

// maxGolden bounds what is read of a golden file, in bytes.
const maxGolden = 4 << 20

// golden is what a golden file holds: what a policy said in a test.
type golden struct {
	// Module is the SHA-256 of the module that said it. Only the same one must take the
	// same fuel.
	Module  string      `json:"module"`
	Verdict eval.Result `json:"verdict"`
}

// goldenPath is where the golden file of a test lies.
func goldenPath(d *Draft, test string) string {
	return filepath.Join(d.Dir(), "tests", "golden", d.Name, test+".json")
}

// Strays are the golden files of a policy that none of its tests has: what they hold is
// compared no more.
func Strays(d *Draft) (paths []string) {
	if d.Err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, t := range d.Tests() {
		known[goldenPath(d, t.Name)] = true
	}
	all, _ := filepath.Glob(filepath.Join(escaped(d.Dir()), "tests", "golden", d.Name, "*.json")) // the pattern is a good one
	for _, path := range all {
		if !known[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// escaped is a path that means itself in a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readGolden returns nil where there is none.
func readGolden(path string) (*golden, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxGolden))
	if err != nil {
		return nil, err
	}
	return parseGolden(path, text)
}

func parseGolden(path string, text []byte) (*golden, error) {
	g := &golden{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(g); err != nil {
		return nil, fmt.Errorf("%s: no golden file: %w; --update writes it anew", place(path, text, err), err)
	}
	return g, nil
}

// place is the file, with the line where that is known.
func place(path string, text []byte, err error) string {
	at := int64(0)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = wrong.Offset
	} else if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = wrong.Offset
	}
	if at == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, 1+bytes.Count(text[:min(at, int64(len(text)))], []byte{'\n'}))
}

// write writes the golden file, and reports whether it held something else.
func (g *golden) write(path string) (changed bool, err error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(g); err != nil {
		return false, err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text.Bytes()) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // as the author's other folders
		return false, err
	}
	return true, os.WriteFile(path, text.Bytes(), 0o644) // as the author's other files
}

// differs says what is another than in the golden file, empty where nothing is.
func (g *golden) differs(path string, now *golden) (string, error) {
	before, made, err := g.normal(now)
	if err != nil {
		return "", err
	}
	d, err := replay.FirstDifference(&before, &made)
	if err != nil || d == nil {
		return "", err
	}
	shown := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s is %s, want %s as in %s; if that is meant, write it with --update", d.Field, shown(d.Made), shown(d.Recorded), path), nil
}

// normal are the verdicts that are compared: without fuel where that need not be
// the same, and what was never in a file as it would come out of one.
func (g *golden) normal(now *golden) (before, made eval.Result, err error) {
	text, err := json.Marshal(&now.Verdict)
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	before = g.Verdict
	if g.Module != now.Module {
		before.Fuel, before.HostFuel = made.Fuel, made.HostFuel
	}
	if len(before.Patch) > 0 { // it is indented in the file
		var flat bytes.Buffer
		if err == nil {
			err = json.Compact(&flat, before.Patch)
		}
		before.Patch = flat.Bytes()
	}
	return before, made, err
}
