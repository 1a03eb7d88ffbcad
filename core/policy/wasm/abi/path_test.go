package abi

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func TestPathsAreReadAsSegments(t *testing.T) {
	t.Parallel()
	field := func(name string) segment { return segment{kind: segmentField, name: name} }
	for text, want := range map[string][]segment{
		"a":            {field("a")},
		"a.b":          {field("a"), field("b")},
		"a.@all":       {field("a"), field("@all")},
		"a_1.b-2":      {field("a_1"), field("b-2")},
		"a[*].b[12]":   {field("a"), {kind: segmentEach}, field("b"), {kind: segmentIndex, index: 12}},
		"a[*][*]":      {field("a"), {kind: segmentEach}, {kind: segmentEach}},
		"a['k.8/s']":   {field("a"), {kind: segmentKey, name: "k.8/s"}},
		"a['']":        {field("a"), {kind: segmentKey}},
		`a['\'\\]"ü']`: {field("a"), {kind: segmentKey, name: `'\]"ü`}},
	} {
		got, err := parsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(segment{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestPathsAreRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "character 1 of the path: expected a name",
		".a":                           "character 1 of the path: expected a name",
		"a.":                           "character 3 of the path: expected a name",
		"a..b":                         "character 3 of the path: expected a name",
		"@":                            "character 2 of the path: expected a name",
		"a b":                          "character 2 of the path: expected a dot",
		"a.ü":                          "character 3 of the path: expected a name",
		"a[":                           "character 3 of the path: expected *, an index, or a key in single quotes",
		"a[]":                          "character 3 of the path: expected *, an index, or a key in single quotes",
		"a[-1]":                        "character 3 of the path: expected *, an index, or a key in single quotes",
		"a[9999999999]":                "character 13 of the path: expected *, an index, or a key in single quotes",
		`a["k"]`:                       "character 3 of the path: expected *, an index, or a key in single quotes",
		"a[1":                          "character 4 of the path: expected ]",
		"a[*]b":                        "character 5 of the path: expected a dot",
		"a['k":                         "character 5 of the path: the key has no closing quote",
		`a['\n']`:                      `character 5 of the path: expected ' or \ after \`,
		`a['\`:                         `character 5 of the path: expected ' or \ after \`,
		"a['k'":                        "character 6 of the path: expected ]",
		"a\xff":                        "the path is not valid UTF-8",
		strings.Repeat("a", 1025):      "the path is longer than 1024 bytes",
		strings.Repeat("a.", 32) + "a": "the path has more than 32 segments",
	} {
		if got, err := parsePath(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		} else if err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// FuzzPath writes each parsed path as text and parses the text again: both must be equal. No
// path may break a projection.
func FuzzPath(f *testing.F) {
	for _, text := range []string{
		"object.spec.@containers[*].image", "object.metadata.labels['a\\'b']", "object.spec.containers[0].ports[*].hostPort",
		"oldObject.spec.volumes", "request.time", "object.spec.containers[*].resources.limits['cpu']", "a['", "a[", "..", "object.status",
		"node.pods[*].hostPorts[0]", "candidates[*].object.spec.@containers[*].image", "candidates[0].firstSeen", "request.changed[*]",
	} {
		f.Add(text)
	}
	q := requestFor(abitest.Pod("a", "b"))
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := parsePath(text)
		if err != nil {
			return
		}
		written := format(segments)
		again, err := parsePath(written)
		if len(written) <= MaxPathBytes && err != nil {
			t.Fatalf("%q was read, %q is not: %v", text, written, err)
		}
		if err == nil && !cmp.Equal(segments, again, cmp.AllowUnexported(segment{})) {
			t.Fatalf("%q is read as %v, %q as %v", text, segments, written, again)
		}
		var p Projection
		if p.Declare(text, false, everything) != nil {
			return
		}
		if fields := abitest.ParseRecord(t, recordOf(t, &p, q)); len(fields) != 1 {
			t.Fatalf("%d fields", len(fields))
		}
	})
}

func format(segments []segment) string {
	var b strings.Builder
	for i, s := range segments {
		switch s.kind {
		case segmentField:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		case segmentKey:
			b.WriteString("['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.name) + "']")
		case segmentIndex:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case segmentEach:
			b.WriteString("[*]")
		}
	}
	return b.String()
}
