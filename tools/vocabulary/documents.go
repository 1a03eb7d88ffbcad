package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// longest is the maximum number of characters in a line of a document. Rows of tables and lines of
// code are excepted, because they cannot be broken.
const longest = 120

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|^\[[^\]]+\]:\s*(\S+)`)
	heading = regexp.MustCompile(`^#+ (.*)$`)
	// unlinked matches the characters that an anchor omits.
	unlinked = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// checkDocument returns the lines of a document that are too long, and its
// links to files and headings that do not exist.
func checkDocument(path string) (found []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for i, line := range prose(string(text)) {
		say := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, i+1, fmt.Sprintf(format, args...)))
		}
		if n := utf8.RuneCountInString(line); n > longest && !strings.HasPrefix(line, "|") && strings.Contains(strings.TrimSpace(line), " ") {
			say("the line has %d characters: break it after at most %d", n, longest)
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") {
				continue
			}
			if why := checkLink(path, to); why != "" {
				say("link to %s: %s", to, why)
			}
		}
	}
	return found, nil
}

// prose returns the lines of a document. The lines of code are empty.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		if fence || code {
			lines[i] = ""
		}
	}
	return lines
}

// checkLink returns the fault of a link in the document from, "" for none.
func checkLink(from, to string) string {
	file, anchor, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(target); err != nil {
		return "there is no such file"
	}
	if anchor == "" || filepath.Ext(target) != ".md" {
		return ""
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err.Error()
	}
	if !anchors(string(text))[anchor] {
		return "the document has no such heading"
	}
	return ""
}

// anchors returns the names of a document's headings in links.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(text) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := linked.ReplaceAllString(m[1], "$1")
		name = unlinked.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
		name = strings.ReplaceAll(name, " ", "-")
		for i, again := 1, name; all[name]; i++ {
			name = fmt.Sprintf("%s-%d", again, i)
		}
		all[name] = true
	}
	return all
}
