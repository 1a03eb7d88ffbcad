package wasm

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// specification is the part of the specification below a heading.
func specification(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/abi.md has no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// firstCells are the code words in the first cells of all tables of a part.
func firstCells(part string) []string {
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`"+`[^|]*) \|`).FindAllStringSubmatch(part, -1) {
		for _, word := range regexp.MustCompile("`([A-Za-z_0-9]+)[^`]*`").FindAllStringSubmatch(row[1], -1) {
			words = append(words, word[1])
		}
	}
	slices.Sort(words)
	return words
}

func TestTheSpecificationNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	codes := []string{}
	for _, code := range []FailureCode{Trap, MemoryLimit, StackLimit, BadOutput, HostDenied, AbiMismatch, InputTooLarge, PluginError, HostError} {
		codes = append(codes, string(code))
	}
	slices.Sort(codes)
	exports := slices.Sorted(maps.Keys(called))
	exports = append(exports, "memory", "wardlet_abi_1_0")
	slices.Sort(exports)
	for heading, want := range map[string][]string{
		"Imports of `wardlet1`": slices.Sorted(maps.Keys(abiFunctions)),
		"WASI":                  slices.Sorted(maps.Keys(wasiFunctions)),
		"Failures":              codes,
		"Exports":               exports,
	} {
		if diff := cmp.Diff(want, firstCells(specification(t, heading))); diff != "" {
			t.Errorf("%s: (-code +docs/abi.md):\n%s", heading, diff)
		}
	}
}

func TestTheSpecificationHasTheRightTypes(t *testing.T) {
	t.Parallel()
	part := specification(t, "Imports of `wardlet1`")
	for name, f := range abiFunctions {
		row := regexp.MustCompile("(?m)^\\| `" + name + "\\(.*$").FindString(part)
		want := strings.TrimSuffix(typeName(f.params, f.results), "(i32)")
		if len(f.results) > 0 {
			want += "i32"
		}
		if !strings.Contains(row, "`"+want+"`") {
			t.Errorf("%s: want type %s in %s", name, want, row)
		}
	}
}

func TestTheSpecificationsRequestFields(t *testing.T) {
	t.Parallel()
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `request\\.([a-z]+)` ").FindAllStringSubmatch(specification(t, "Paths"), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(requestFields)), got); diff != "" {
		t.Errorf("(-code +docs/abi.md):\n%s", diff)
	}
}

// The specification's example is the record of TestLayoutOfTheRecord.
func TestTheSpecificationsExampleIsARecord(t *testing.T) {
	t.Parallel()
	part := specification(t, "The input area")
	blocks := strings.Split(part, "```")
	var record []byte
	for line := range strings.SplitSeq(blocks[len(blocks)-2], "\n") {
		for word := range strings.FieldsSeq(line) {
			if len(word) != 2 {
				break // the comment
			}
			high, low := strings.IndexByte(hexDigits, word[0]), strings.IndexByte(hexDigits, word[1])
			if high < 0 || low < 0 {
				break
			}
			record = append(record, byte(high<<4|low))
		}
	}
	want := []any{[]any{"ab", missing{}}, false, map[string]string{"app": "web"}, missing{}}
	if diff := cmp.Diff(want, parseRecord(t, record)); diff != "" {
		t.Errorf("(-want +docs/abi.md):\n%s", diff)
	}
}

const hexDigits = "0123456789abcdef"
