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

// maxGolden is how many bytes of a golden file are read.
const maxGolden = 4 << 20

// golden is the content of a golden file: the result of a policy in a test.
type golden struct {
	// Module is the SHA-256 of the module that returned the result. Only the same module
	// must use the same fuel.
	Module  string      `json:"module"`
	Verdict eval.Result `json:"verdict"`
}

// goldenPath returns the path of the golden file of a test.
func goldenPath(d *Draft, test string) string {
	return filepath.Join(d.Dir(), "tests", "golden", d.Name, test+".json")
}

// Strays returns the golden files of a policy that belong to none of its tests, and so are
// not compared.
func Strays(d *Draft) (paths []string) {
	if d.Err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, t := range d.Tests() {
		known[goldenPath(d, t.Name)] = true
	}
	all, _ := filepath.Glob(filepath.Join(escaped(d.Dir()), "tests", "golden", d.Name, "*.json")) // the pattern is valid
	for _, path := range all {
		if !known[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// escaped returns a path in a form that matches only the path itself in a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readGolden reads a golden file; nil if there is none.
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

// place returns the path of a file, with the line of the error if it is known.
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

// write writes the golden file, and reports whether its content has changed.
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

// differs says how a result differs from the golden file, empty if it does not.
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

// normal returns both results in a comparable form: the fuel of both is the same if another
// module was used, and the new result is encoded and decoded as if it was read from a file.
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
