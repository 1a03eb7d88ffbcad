package manifest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

var addUIDs = flag.Bool("add-uids", false, "fill in the UIDs that are missing in testdata/uids.txt")

// goldenUIDs reads testdata/uids.txt. Each entry is a line "== UID", or "==" if the UID is
// missing, with a document below it.
func goldenUIDs(t *testing.T) (head string, entries [][2]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/uids.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n==")
	for _, part := range parts[1:] {
		uid, doc, _ := strings.Cut(part, "\n")
		entries = append(entries, [2]string{strings.TrimSpace(uid), doc + "\n"})
	}
	return parts[0], entries
}

func uidOf(t *testing.T, text string, from DecodeFrom) types.UID {
	t.Helper()
	docs := Decode([]byte(text), from)
	if docs[0].Err != nil {
		t.Fatalf("refused: %v", docs[0].Err)
	}
	return docs[0].Pod.UID
}

func TestUIDsStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	head, entries := goldenUIDs(t)
	if len(entries) < 8 {
		t.Fatalf("only %d entries", len(entries))
	}
	var out strings.Builder
	out.WriteString(head)
	from := DecodeFrom{Source: "local", Kind: api.KindFile, File: "/a.yaml", NodeName: "node-1"}
	for _, e := range entries {
		got := uidOf(t, e[1], from)
		if e[0] != string(got) && (e[0] != "" || !*addUIDs) {
			t.Errorf("UID %s, golden %q, of\n%s", got, e[0], e[1])
		}
		fmt.Fprintf(&out, "\n== %s\n%s", got, strings.TrimSuffix(e[1], "\n"))
	}
	if *addUIDs {
		if err := os.WriteFile("testdata/uids.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUIDIsOfWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	text := manifest("    env: [{name: A, value: b}]", "  hostNetwork: true")
	base := uidOf(t, text, testFrom)
	if len(base) != 32 {
		t.Errorf("UID %q has not 32 digits", base)
	}
	other := func(change func(*DecodeFrom)) DecodeFrom {
		from := testFrom
		change(&from)
		return from
	}
	for _, tc := range []struct {
		rule string
		text string
		from DecodeFrom
		same bool
	}{
		{"comments", "# licence\n---\n" + text + "# end\n", testFrom, true},
		{"order of keys", manifest("    env: [{value: b, name: A}]", "  hostNetwork: true"), testFrom, true},
		{"file name", text, other(func(f *DecodeFrom) { f.File = "/m/other.yaml" }), true},
		{"kind of source", text, other(func(f *DecodeFrom) { f.Kind = api.KindHTTP }), true},
		{"creationTimestamp: null, which kubectl writes", strings.Replace(text, "metadata:\n", "metadata:\n  creationTimestamp: null\n", 1), testFrom, true},
		{"status: {}, which kubectl writes", text + "status: {}\n", testFrom, true},
		{"anchors", manifest("    env: [{name: &a A, value: b}]", "  hostNetwork: true"), testFrom, true},
		{"a default that is written out", text + "  restartPolicy: Always\n", testFrom, false},
		{"an empty list that is written out", text + "  volumes: []\n", testFrom, false},
		{"a value", strings.Replace(text, "value: b", "value: c", 1), testFrom, false},
		{"source", text, other(func(f *DecodeFrom) { f.Source = "other" }), false},
		{"node", text, other(func(f *DecodeFrom) { f.NodeName = "node-2" }), false},
		{"identity", strings.Replace(text, "metadata:\n", "metadata:\n  annotations: {wardlet.dev/identity: x}\n", 1), testFrom, false},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			if got := uidOf(t, tc.text, tc.from); (got == base) != tc.same {
				t.Errorf("same UID: %v, want %v", got == base, tc.same)
			}
		})
	}
}

func TestUIDPartsCannotPassForEachOther(t *testing.T) {
	t.Parallel()
	doc := map[string]any{"kind": "Pod"}
	seen := map[types.UID][4]string{}
	for _, parts := range [][4]string{{"a", "b", "c", "d"}, {"ab", "", "c", "d"}, {"a", "bc", "", "d"}, {"a", "b", "", "cd"}, {"", "ab", "c", "d"}} {
		uid, err := deriveUID(doc, parts[0], types.NamespacedName{Namespace: parts[1], Name: parts[2]}, parts[3])
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[uid]; ok {
			t.Errorf("%q and %q have one UID", parts, other)
		}
		seen[uid] = parts
	}
}

func TestAFixedUIDIsObeyedAndTheHashStillTellsDocumentsApart(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: My-0}\nspec: {containers: [{name: c, image: i}]}\n"
	p, same := decodeOne(t, text), decodeOne(t, "# comment\n"+text)
	other := decodeOne(t, strings.ReplaceAll(text, "image: i", "image: j"))
	if p.UID != "My-0" || other.UID != "My-0" {
		t.Errorf("UIDs %q and %q, want the fixed one", p.UID, other.UID)
	}
	hash := func(p *v1.Pod) string { return p.Annotations[pod.AnnotationHash] }
	if hash(p) == "My-0" || hash(p) != hash(same) || hash(p) == hash(other) {
		t.Errorf("hashes %q, %q with a comment, %q with another image", hash(p), hash(same), hash(other))
	}
}
