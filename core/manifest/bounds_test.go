package manifest

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// nested returns n lists, each within the one before.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// aliases returns a list of n pods. The first has a text of size bytes, and all others are
// aliases of it.
func aliases(size, n int) string {
	return "---\napiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {x: \"" +
		strings.Repeat("x", size) + "\"}}, spec: {containers: [{name: c, image: i}]}}\n" + strings.Repeat("- *a\n", n-1)
}

// exploding returns n anchors. Each refers to the one before nine times.
func exploding(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [" + strings.Repeat("x, ", 9) + "]\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	return b.String()
}

// TestHostileDocumentsCostLittle measures all allocations of Decode, so no other test may run
// at the same time. The memory in use is never more than the sum of all allocations.
func TestHostileDocumentsCostLittle(t *testing.T) {
	for _, tc := range []struct {
		rule string
		text []byte
		// want is a part of the message, which begins with place.
		place, want string
		// allocated is the maximum of allocated bytes.
		allocated uint64
	}{
		{"100 MB", bytes.Repeat([]byte("a: b\n"), 20<<20), "/m/web.yaml: ", "larger than 10485760 bytes", 1 << 20},
		{"10 MB of values", bytes.Repeat([]byte("- a\n"), 2<<20), "/m/web.yaml:1: ", "more than 524288 values in one document", 64 << 20},
		{"1 MB in one value", []byte("a: " + strings.Repeat("x", 1<<20)), "/m/web.yaml:1: ", "apiVersion is missing", 32 << 20},
		{"1 MB of comment", []byte("#" + strings.Repeat("x", 1<<20) + "\na: b"), "/m/web.yaml:2: ", "apiVersion is missing", 32 << 20},
		{"anchors that explode", []byte(exploding(40)), "/m/web.yaml:", "larger than 10485760 bytes once its aliases are resolved", 16 << 20},
		{"a long text that is referred to often", []byte("a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 1<<10) + "]\n"), "/m/web.yaml:2: ", "once its aliases are resolved", 64 << 20},
		{"an anchor that contains itself", []byte("a: 1\nb: &a [*a]\n"), "/m/web.yaml:2: ", "contains itself", 1 << 20},
		{"10 MB of opening brackets", bytes.Repeat([]byte("["), MaxManifest), "/m/web.yaml:1: ", "exceeded max depth", 256 << 20},
		{"10 MB of nested mappings", []byte(strings.Repeat("{a: ", MaxManifest/4)), "/m/web.yaml:1: ", "more than 524288 values", 64 << 20},
		{"10 MB of nested sequences", []byte(strings.Repeat("- ", MaxManifest/2)), "/m/web.yaml:1: ", "exceeded max depth", 256 << 20},
		{"nesting that parsers still take", []byte("a: 1\nb: " + nested(5000)), "/m/web.yaml:2: ", "nested deeper than 100 levels", 64 << 20},
		{"nesting in JSON", []byte(`{"a":` + nested(5000) + `}`), "/m/web.yaml:1: ", "nested deeper than 100 levels", 64 << 20},
		{"10 MB of NUL bytes", make([]byte, MaxManifest), "/m/web.yaml: ", "the manifest is empty", 1 << 20},
		{"a NUL byte", []byte("apiVersion: v1\nkind: P\x00d\n"), "/m/web.yaml:2: ", "control character 0x00 at byte 22", 1 << 20},
		{"a manifest that ends in NUL bytes, as after a crash", append([]byte(named("a")), make([]byte, 1<<20)...), "/m/web.yaml:5: ", "control character 0x00", 32 << 20},
		{"10 MB of separators", bytes.Repeat([]byte("---\na\n"), MaxManifest/6), "/m/web.yaml:2001: ", "more than 1000 documents", 1 << 20},
		{"1 MB of JSON in one string", []byte(`{"a":"` + strings.Repeat(`\/`, 1<<19) + `"}`), "/m/web.yaml:1: ", "apiVersion is missing", 32 << 20},
		{"10 MB of merge keys", []byte("a: &a {b: c}\n" + strings.Repeat("d: {<<: *a}\n", MaxManifest/12-2)), "/m/web.yaml:1: ", "more than 524288 values", 64 << 20},
		{"10 000 merges", []byte("a: &a {b: c}\nd:\n" + strings.Repeat("- {<<: *a}\n", 10_000)), "/m/web.yaml:1: ", "apiVersion is missing", 64 << 20},
		{"10 000 unknown fields", append([]byte("apiVersion: v1\nkind: Pod\n"), manyKeys(10_000)...), "/m/web.yaml:", "and more", 64 << 20},
		{"lists of aliases in many documents", []byte(strings.Repeat(aliases(100, 600), 20)), "/m/web.yaml:606: ", "the manifest has more than 1000 documents and items of lists", 256 << 20},
		{"aliases of long texts in many documents", []byte(strings.Repeat(aliases(100_000, 60), 20)), "/m/web.yaml:", "the manifest is larger than 10485760 bytes once its aliases are resolved", 256 << 20},
		{"10 000 references", []byte(manifest("    envFrom: [" + strings.Repeat("{secretRef: {}}, ", 10_000) + "]")), "/m/web.yaml:9: ", "and more", 64 << 20},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			docs := Decode(tc.text, testFrom)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if len(docs) == 0 || docs[0].Err == nil {
				t.Fatalf("not refused: %.300v", docs)
			}
			if said := docs[0].Err.Error(); !strings.HasPrefix(said, tc.place) || !strings.Contains(said, tc.want) {
				t.Errorf("got %.300q, want %q and %q", said, tc.place, tc.want)
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes: %d kB allocated, %v", len(tc.text), allocated>>10, took)
			if allocated > tc.allocated {
				t.Errorf("%d bytes allocated, want at most %d", allocated, tc.allocated)
			}
			if took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
