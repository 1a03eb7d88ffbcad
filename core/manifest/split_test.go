package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	type part struct {
		Index, Above int
		Text         string
	}
	for _, tc := range []struct {
		rule, data string
		want       []part
	}{
		{"one document needs no marker", "a: 1\n", []part{{0, 0, "a: 1\n"}}},
		{"a marker begins a document and stays with it", "a: 1\n---\nb: 2\n", []part{{0, 0, "a: 1\n"}, {1, 1, "---\nb: 2\n"}}},
		{"a leading marker moves no index", "---\na: 1\n", []part{{0, 0, "---\na: 1\n"}}},
		{"a comment above the first marker moves no index", "# licence\n\n---\na: 1\n", []part{{0, 2, "---\na: 1\n"}}},
		{"a document commented out keeps its index", "a: 1\n---\n# b: 2\n---\nc: 3\n", []part{{0, 0, "a: 1\n"}, {2, 3, "---\nc: 3\n"}}},
		{"an empty document keeps its index", "---\n---\nb: 2\n", []part{{1, 1, "---\nb: 2\n"}}},
		{"a marker at the end says nothing", "a: 1\n---\n", []part{{0, 0, "a: 1\n"}}},
		{"a marker may carry a comment", "--- # first\na: 1\n--- # second\n", []part{{0, 0, "--- # first\na: 1\n"}}},
		{"a marker may carry the document", "--- {a: 1}\n--- {b: 2}", []part{{0, 0, "--- {a: 1}\n"}, {1, 1, "--- {b: 2}"}}},
		{"a marker ends at a carriage return", "a: 1\r\n---\r\nb: 2\r\n", []part{{0, 0, "a: 1\r\n"}, {1, 1, "---\r\nb: 2\r\n"}}},
		{"more dashes are no marker", "a: |\n  x\n----\n", []part{{0, 0, "a: |\n  x\n----\n"}}},
		{"an indented marker is none", "a: |\n ---\n b\n", []part{{0, 0, "a: |\n ---\n b\n"}}},
		{"an end marker says nothing", "a: 1\n---\n...\n", []part{{0, 0, "a: 1\n"}}},
		{"a byte order mark is dropped", "\ufeff---\na: 1\n", []part{{0, 0, "---\na: 1\n"}}},
		{"comments alone are no document", "# a\n# b\n", nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			var got []part
			for _, c := range split([]byte(tc.data)) {
				got = append(got, part{c.index, c.above, string(c.text)})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("split (-want +got):\n%s", diff)
			}
		})
	}
}
