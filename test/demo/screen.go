package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// width is how many columns a line may have.
const width = 100

// maxLines is how many lines of the screen one line of text may use; the rest of the text is left
// out.
const maxLines = 2

// indent precedes the lines that belong to a step.
const indent = "   "

// screen is the output that a person reads.
type screen struct {
	out, wrong io.Writer
	// dir is the directory that is printed as $D, except in lines at the margin; empty for none.
	dir string
}

func newScreen(out io.Writer) *screen { return &screen{out: out, wrong: os.Stderr} }

// line prints one line at the margin; a longer line is continued below, up to maxLines.
func (s *screen) line(text string) { s.print("", text) }

// command prints a command that is run.
func (s *screen) command(args ...string) { s.print(indent, "$ "+strings.Join(args, " ")) }

// act prints something that is done or seen without a command.
func (s *screen) act(format string, values ...any) {
	s.print(indent, "> "+fmt.Sprintf(format, values...))
}

// output prints the output of a command.
func (s *screen) output(lines ...string) {
	for _, line := range lines {
		s.print(indent, line)
	}
}

// fail prints the whole text of a failure.
func (s *screen) fail(text string) { fmt.Fprintln(s.wrong, "demo: "+text) }

func (s *screen) print(margin, text string) {
	if s.dir != "" && margin != "" {
		text = strings.ReplaceAll(text, s.dir, "$D")
	}
	lines := wrap(text, width-len(margin))
	if len(lines) > maxLines {
		runes := []rune(lines[maxLines-1])
		lines = append(lines[:maxLines-1], string(runes[:min(len(runes), width-len(margin)-1)])+"…")
	}
	for _, line := range lines {
		fmt.Fprintln(s.out, margin+line)
	}
}

// wrap breaks a line that is too long between words, and a word that is too long at the last
// column. The further lines are indented.
func wrap(text string, columns int) []string {
	var lines []string
	for utf8.RuneCountInString(text) > columns {
		runes := []rune(text)
		at := columns
		for at > len(indent) && runes[at] != ' ' {
			at--
		}
		if at <= len(indent) {
			at = columns
		}
		lines = append(lines, strings.TrimRight(string(runes[:at]), " "))
		text = indent + strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(lines, text)
}
