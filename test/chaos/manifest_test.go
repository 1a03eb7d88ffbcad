package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// decoded decodes a manifest as the agent does.
func decoded(t *testing.T, text string) api.Document {
	t.Helper()
	documents := manifest.Decode([]byte(text), manifest.DecodeFrom{Source: "static", Kind: api.KindFile, File: "/x.yaml", NodeName: nodeName})
	if len(documents) != 1 {
		t.Fatalf("%d documents in\n%s", len(documents), text)
	}
	return documents[0]
}

func TestEveryManifestIsAPodAndABrokenOneIsNot(t *testing.T) {
	t.Parallel()
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			text := s.manifest("x-00", 7, imageTwo)
			d := decoded(t, text)
			if d.Pod == nil {
				t.Fatalf("%v in\n%s", d.Err, text)
			}
			if d.Pod.Labels[labelVersion] != "7" || d.Pod.Name != "x-00-"+nodeName || len(d.Pod.Spec.Containers) != len(s.containers) {
				t.Errorf("it is %+v", d.Pod)
			}
			for i, c := range d.Pod.Spec.Containers {
				if c.Name != s.containers[i] || c.Image != imageTwo {
					t.Errorf("container %d is %+v", i, c)
				}
			}
			if d := decoded(t, broken(text)); d.Pod != nil {
				t.Error("a broken manifest is a pod")
			}
			half, _, cut := strings.Cut(text, "  containers:")
			if d := decoded(t, half); !cut || d.Pod != nil {
				t.Error("half a manifest is a pod")
			}
		})
	}
}

func TestRewriteLeavesTheWholeText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.yaml")
	for _, s := range shapes()[:2] {
		text := s.manifest("x", 1, imageOne)
		if err := rewrite(path, text); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v", got, err)
		}
	}
}
