package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheck_findings writes a repository of a few files and compares the findings in it.
func TestCheck_findings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		words string
		files map[string]string
		want  []string
	}{
		"nothing": {"comment 0 gives\nname 0 bereft\n", map[string]string{"a.go": "package a\n\n// b returns.\nvar b = \"gives\"\n"}, nil},
		"a word in a comment": {"comment 0 gives\n", map[string]string{"a.go": "package a\n\nvar b int // b gives, Gives\n"}, []string{
			`a.go:3: comment "gives": write it in the words of CONTRIBUTING.md; it is used 2 times, and at most 0 are allowed`,
			`a.go:3: comment "gives": write it in the words of CONTRIBUTING.md; it is used 2 times, and at most 0 are allowed`,
		}},
		"part of a word is another": {"comment 0 gives\n", map[string]string{"a.go": "package a // forgives\n"}, nil},
		"a phrase goes on in the next line": {"comment 0 takes in\n", map[string]string{"a.go": "package a\n\n// it takes\n// in more\n"}, []string{
			`a.go:3: comment "takes in": write it in the words of CONTRIBUTING.md; it is used 1 times, and at most 0 are allowed`,
		}},
		"a name": {"name 1 bereft\n", map[string]string{"a.go": "package a\n\nvar bereft, left int\n"}, nil},
		"a name that goes too often": {"name 0 bereft # the field's word is isOrphaned\n", map[string]string{"a.go": "package a\n\nfunc (s *slot) bereft() {}\n"}, []string{
			`a.go:3: name "bereft": write it in the words of CONTRIBUTING.md; it is used 1 times, and at most 0 are allowed`,
		}},
		"fewer than allowed": {"comment 2 gives\n", map[string]string{"a.go": "package a // gives\n"}, []string{
			`tools/vocabulary/words.txt: comment "gives" is used 1 times: lower its number from 2`,
		}},
		"what is not looked at": {"comment 0 gives\n", map[string]string{
			"testdata/a.go": "package a // gives\n", "build/a.go": "package a // gives\n", ".git/a.go": "package a // gives\n",
		}, nil},
		"a document": {"", map[string]string{"a.md": "# A heading, `code`\n\n[a](a.md#a-heading-code) [b](#a-heading-code) [c](https://x.example/a.md#b)\n"}, nil},
		"links to nothing": {"", map[string]string{"docs/a.md": "[a](b.md)\n[b](a.md#b)\n\n[c]: ../c.md\n```\n[d](d.md)\n```\n"}, []string{
			"docs/a.md:1: link to b.md: there is no such file",
			"docs/a.md:2: link to a.md#b: the document has no such heading",
			"docs/a.md:4: link to ../c.md: there is no such file",
		}},
		"long lines": {"", map[string]string{"a.md": strings.Repeat("ä ", 60) + "\n" + strings.Repeat("x ", 61) + "\n| " + strings.Repeat("x ", 61) + "|\n" +
			strings.Repeat("x", 200) + "\n```\n" + strings.Repeat("x ", 61) + "\n```\n"}, []string{
			"a.md:2: the line has 122 characters: break it after at most 120",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			test.files["tools/vocabulary/words.txt"] = test.words
			for path, content := range test.files {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := check(dir)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], dir+"/")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadWords_refusesLines checks the errors for invalid lines.
func TestReadWords_refusesLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"gives":           `words.txt:2: invalid line "gives": must be comment or name, a number, and the word`,
		"comment 1":       `words.txt:2: invalid line "comment 1": must be comment or name, a number, and the word`,
		"string 1 gives":  `words.txt:2: invalid line "string 1 gives": must be comment or name, a number, and the word`,
		"comment x gives": `words.txt:2: invalid number "x": must be 0 or more`,
		"name -1 gives":   `words.txt:2: invalid number "-1": must be 0 or more`,
	} {
		path := filepath.Join(t.TempDir(), "words.txt")
		if err := os.WriteFile(path, []byte("# words\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readWords(path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: error %v, want one that ends in %q", line, err, want)
		}
	}
}
