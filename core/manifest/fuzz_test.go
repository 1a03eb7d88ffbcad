package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/pod"
)

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/kubectl/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		named("a") + "---\n" + named("b"),
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}, 7]\n",
		"a: &a [*a]\n", "a: 1\na: 2\n", "x: *y\n", "--- |\n a\n---\n", "a: b: c\n", "{", "\xff", "? [a]\n: b\n", "", "a: !!binary x\n",
		manifest("    resources: {limits: {cpu: 1e9999999999}}", "  <<: {hostNetwork: true}"),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, again := Decode(data, testFrom), Decode(data, testFrom)
		if len(docs) != len(again) {
			t.Fatalf("%d documents, then %d", len(docs), len(again))
		}
		var ids []string
		for i, d := range docs {
			ids = append(ids, d.ID)
			if d.Source != "local" || !strings.HasPrefix(d.ID, "/m/web.yaml#") {
				t.Fatalf("document %+v", d)
			}
			if (d.Pod == nil) == (d.Err == nil) {
				t.Fatalf("pod %v and error %v", d.Pod, d.Err)
			}
			if d.Err != nil {
				if d.Err.Line == 0 && len(strings.Trim(string(data), "\x00 \t\r\n")) > 0 {
					t.Fatalf("no line: %v", d.Err)
				}
				if d.Err.Line > breaks(string(data))+1 {
					t.Fatalf("line beyond the end: %v", d.Err)
				}
				continue
			}
			if d.Pod.UID != again[i].Pod.UID || d.Version != again[i].Version {
				t.Fatalf("%s: UID %s, then %s", d.ID, d.Pod.UID, again[i].Pod.UID)
			}
			p := d.Pod.DeepCopy()
			p.Name = strings.TrimSuffix(p.Name, "-node-1")
			delete(p.Annotations, pod.AnnotationSource)
			delete(p.Annotations, pod.AnnotationHash)
			p.Spec.Tolerations, p.Status.Phase = nil, ""
			text, err := sigsyaml.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			back := Decode(text, testFrom)
			if len(back) != 1 || back[0].Err != nil {
				t.Fatalf("does not decode again: %v\n%s", outline(back), text)
			}
			// The UID is the same and the text is another, so the hash is the only difference
			// allowed.
			back[0].Pod.Annotations[pod.AnnotationHash] = d.Pod.Annotations[pod.AnnotationHash]
			if f := pod.Diff(d.Pod, back[0].Pod); f != 0 {
				t.Fatalf("differs when decoded again: %s", cmp.Diff(d.Pod, back[0].Pod))
			}
		}
		slices.Sort(ids)
		if len(slices.Compact(ids)) != len(docs) {
			t.Fatalf("an ID is used twice: %v", ids)
		}
	})
}

// breaks counts the line ends of YAML, among them a single carriage return and three characters
// that end lines only in YAML 1.1.
func breaks(text string) (n int) {
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		n += strings.Count(text, end)
	}
	return n
}
