package main

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// word is a line of words.txt: "comment 3 gives" allows the word in at most 3
// comments, "name 0 bereft" allows no identifier of that name.
type word struct {
	kind string // comment or name
	most int
	text string

	pattern *regexp.Regexp // for a word in comments
	places  []string       // FILE:LINE of each use
}

// words are the lines of words.txt.
type words []*word

// readWords reads words.txt. An error names the line.
func readWords(path string) (words, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all words
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		w, err := parseWord(fields)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		all = append(all, w)
	}
	return all, nil
}

func parseWord(fields []string) (*word, error) {
	if len(fields) < 3 || fields[0] != "comment" && fields[0] != "name" {
		return nil, fmt.Errorf("invalid line %q: must be comment or name, a number, and the word", strings.Join(fields, " "))
	}
	most, err := strconv.Atoi(fields[1])
	if err != nil || most < 0 {
		return nil, fmt.Errorf("invalid number %q: must be 0 or more", fields[1])
	}
	w := &word{kind: fields[0], most: most, text: strings.Join(fields[2:], " ")}
	if w.kind == "comment" {
		w.pattern, err = regexp.Compile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(w.text), " ", `\s+(?://\s*)?`) + `\b`)
	}
	return w, err
}

// count adds the uses of words in a Go file.
func (all words) count(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	names := map[string]*word{}
	for _, w := range all {
		if w.kind == "name" {
			names[w.text] = w
		}
	}
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, scanner.ScanComments)
	// block has the lines of a comment so far, because a phrase may continue in the next line.
	var block strings.Builder
	var began, last int
	end := func() {
		all.countComment(path, began, block.String())
		block.Reset()
	}
	for {
		pos, tok, literal := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.COMMENT:
			if block.Len() > 0 && line > last+1 {
				end()
			}
			if block.Len() == 0 {
				began = line
			}
			block.WriteString(literal + "\n")
			last = line + strings.Count(literal, "\n")
			continue
		case tok == token.SEMICOLON && literal == "\n": // the scanner's own, at the end of a line
			continue
		}
		if block.Len() > 0 {
			end()
		}
		if tok == token.EOF {
			return nil
		}
		if w := names[literal]; tok == token.IDENT && w != nil {
			w.places = append(w.places, fmt.Sprintf("%s:%d", path, line))
		}
	}
}

func (all words) countComment(path string, line int, text string) {
	for _, w := range all {
		if w.pattern == nil {
			continue
		}
		for _, at := range w.pattern.FindAllStringIndex(text, -1) {
			w.places = append(w.places, fmt.Sprintf("%s:%d", path, line+strings.Count(text[:at[0]], "\n")))
		}
	}
}

// findings returns the uses of words that occur more often than words.txt allows, and the words for
// which it allows more uses than there are.
func (all words) findings() (found []string) {
	slices.SortStableFunc(all, func(a, b *word) int { return cmp.Compare(a.text, b.text) })
	for _, w := range all {
		switch {
		case len(w.places) > w.most:
			for _, place := range w.places {
				found = append(found, fmt.Sprintf("%s: %s %q: write it in the words of CONTRIBUTING.md; it is used %d times, and at most %d are allowed",
					place, w.kind, w.text, len(w.places), w.most))
			}
		case len(w.places) < w.most:
			found = append(found, fmt.Sprintf("tools/vocabulary/words.txt: %s %q is used %d times: lower its number from %d", w.kind, w.text, len(w.places), w.most))
		}
	}
	return found
}
