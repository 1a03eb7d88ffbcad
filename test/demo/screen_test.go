package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"what fits stays as it is":            {"one two  three", []string{"one two  three"}},
		"nothing is one empty line":           {"", []string{""}},
		"lines break between words":           {"the quick brown fox jumps", []string{"the quick brown fox", "   jumps"}},
		"every line that follows is indented": {"aaaaaaaaaa bbbbbbbbbb cccccccccc", []string{"aaaaaaaaaa", "   bbbbbbbbbb", "   cccccccccc"}},
		"a word too long breaks where it is":  {"aaaaaaaaaabbbbbbbbbbcc", []string{"aaaaaaaaaabbbbbbbbbb", "   cc"}},
		"columns count, not bytes":            {"ääääääääää öööööööö", []string{"ääääääääää öööööööö"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, wrap(test.text, 20)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("the quick brown fox jumps over the lazy dog", 10)
	f.Add("   "+strings.Repeat("x", 100), 7)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		if columns < 2*len(indent) || columns > 200 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n") {
			return
		}
		var words strings.Builder
		for _, line := range wrap(text, columns) {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("%q is longer than %d", line, columns)
			}
			words.WriteString(strings.ReplaceAll(line, " ", ""))
		}
		if want := strings.ReplaceAll(text, " ", ""); words.String() != want {
			t.Errorf("wrapped to %q, want %q", words.String(), want)
		}
	})
}

func TestScreenNamesTheDirectoryAndKeepsTheWidth(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &screen{out: &out, dir: "/tmp/wardlet-demo-1"}
	s.line("1. Title.")
	s.command("wardlet", "get", "pods", "--config", "/tmp/wardlet-demo-1/agent.toml")
	s.output("NAME   READY", "web    1/1")
	s.act("asked %d times", 2)
	s.output(strings.Repeat("word ", 30))
	s.output(strings.Repeat("word ", 60))
	want := "1. Title.\n" +
		"   $ wardlet get pods --config $D/agent.toml\n" +
		"   NAME   READY\n" +
		"   web    1/1\n" +
		"   > asked 2 times\n" +
		"   " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n" +
		"      " + strings.Repeat("word ", 11) + "\n" +
		"   " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n" +
		"      " + strings.Repeat("word ", 18) + "wor…\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
