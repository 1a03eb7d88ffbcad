// Command vocabulary keeps words that the project has given up from coming back,
// and keeps its documents readable. `make lint` runs it in the repository's root.
//
//	go run ./tools/vocabulary
//
// Comes in: words.txt, all .go and .md files below the current directory. Goes
// out: each finding with file and line, and exit status 1 if there is one. words.go
// counts words in comments and identifiers, documents.go looks at documents.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	findings, err := check(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "vocabulary:", err)
		os.Exit(1)
	}
	for _, f := range findings {
		fmt.Fprintln(os.Stdout, f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong in the repository in dir.
func check(dir string) ([]string, error) {
	words, err := readWords(filepath.Join(dir, "tools", "vocabulary", "words.txt"))
	if err != nil {
		return nil, err
	}
	sources, err := filesOf(dir, ".go")
	if err != nil {
		return nil, err
	}
	documents, err := filesOf(dir, ".md")
	if err != nil {
		return nil, err
	}
	for _, path := range sources {
		if err := words.count(path); err != nil {
			return nil, err
		}
	}
	findings := words.findings()
	for _, path := range documents {
		found, err := checkDocument(path)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// filesOf returns the files below dir whose names end in suffix, without those
// of build, testdata and hidden directories.
func filesOf(dir, suffix string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && (slices.Contains([]string{"build", "testdata"}, entry.Name()) || entry.Name()[0] == '.'):
			return fs.SkipDir
		case !entry.IsDir() && filepath.Ext(path) == suffix:
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}
