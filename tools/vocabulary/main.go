// Command vocabulary finds words that the project no longer uses, and checks that the documents are
// readable. `make lint` runs it in the repository's root.
//
//	go run ./tools/vocabulary
//
// Its input is words.txt, and all .go and .md files below the current directory. Its output is each
// finding with file and line. The exit status is 1 if there is a finding. words.go counts words in
// comments and identifiers; documents.go checks documents.
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

// check returns the findings in the repository in dir.
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

// filesOf returns the files below dir whose names end in suffix. Build, testdata and hidden
// directories are skipped.
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
