package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// results are the figures so far, by bench, and the path of the file that always has all of them.
// The previous content of the file is in a file beside it, with the suffix before.
type results struct {
	path    string
	figures [][]figure
	written bool
}

// set replaces the figures of one bench and writes the file again. A reader sees either the old or
// the new figures, never half of them.
func (r *results) set(bench int, figures []figure) error {
	r.figures[bench] = figures
	if !r.written {
		if err := os.Rename(r.path, r.path+".before"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		r.written = true
	}
	return write(r.path, r.all())
}

// all returns the figures of all benches, in order.
func (r *results) all() (all []figure) {
	for _, figures := range r.figures {
		all = append(all, figures...)
	}
	return all
}

// write replaces the file at path.
func write(path string, figures []figure) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
