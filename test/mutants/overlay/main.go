// Command overlay writes the files with which `go test -overlay` builds the product with switches
// for its faults: edited copies of source files, and for each part a file that has the faults
// (testdata). It prints the path of the overlay's JSON.
//
// Usage, from the top of the repository: overlay -out build/mutants
package main

import (
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed testdata/*.go
var parts embed.FS

func main() {
	root := flag.String("root", ".", "the top of the repository")
	out := flag.String("out", "", "the directory that the files go to, relative to the current one")
	flag.Parse()
	path, err := write(*root, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// write writes the overlay of the repository at root to the directory out, and returns
// the path of its JSON.
func write(root, out string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	files, err := contents(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range files {
		to := filepath.Join(out, strings.ReplaceAll(file, "/", "_")+".txt") // not a Go file
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = to
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	path := filepath.Join(out, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// contents returns the files of the overlay, by their path in the repository.
func contents(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range edits {
		if files[e.file] != "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, e.file))
		if err != nil {
			return nil, err
		}
		if files[e.file], err = apply(e.file, string(text)); err != nil {
			return nil, err
		}
	}
	added, err := parts.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	for _, entry := range added {
		text, err := parts.ReadFile("testdata/" + entry.Name())
		if err != nil {
			return nil, err
		}
		files["core/"+strings.TrimSuffix(entry.Name(), ".go")+"/mutants.go"] = string(text)
	}
	return files, nil
}
