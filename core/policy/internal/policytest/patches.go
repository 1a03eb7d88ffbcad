package policytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// ImagePath and LabelsPath are the keys of policies that may change images, or labels.
const (
	ImagePath  = `mutable_paths = ["/spec/containers/*/image"]`
	LabelsPath = `mutable_paths = ["/metadata/labels"]`
)

// ToImage returns a patch that changes the first image.
func ToImage(name string) string {
	return `[{"op":"replace","path":"/spec/containers/0/image","value":"` + name + `"}]`
}

// ToLabel returns a patch that sets a label.
func ToLabel(key, value string) string {
	return `[{"op":"add","path":"/metadata/labels/` + key + `","value":"` + value + `"}]`
}

// FileQuestion returns a question about the pod of a manifest file.
func FileQuestion(t *testing.T, change ...func(*api.Question)) api.Question {
	t.Helper()
	docs := manifest.Decode([]byte(ManifestText), manifest.DecodeFrom{Source: "static", Kind: api.KindFile, File: "web.yaml", NodeName: "node-1"})
	if len(docs) != 1 || docs[0].Err != nil {
		t.Fatalf("documents %+v", docs)
	}
	return Question("web", append([]func(*api.Question){func(q *api.Question) { q.Pod = docs[0].Pod }}, change...)...)
}

// OfAPI returns a change that makes the question's pod one of an API server.
func OfAPI(t *testing.T) func(*api.Question) {
	t.Helper()
	return func(q *api.Question) {
		q.Pod = q.Pod.DeepCopy()
		delete(q.Pod.Annotations, pod.AnnotationHash)
		q.Pod.ResourceVersion, q.Pod.Spec.Tolerations = "1", nil
		d := manifest.FromAPI(q.Pod, manifest.APIFrom{Source: pod.SourceAPI, NodeName: "node-1"})
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		q.Pod, q.Origin.Source = d.Pod, "cluster"
	}
}

// Patching returns scripts whose plugins return these patches, by policy name.
func Patching(patches map[string]string) *Scripts {
	s := NewScripts()
	s.Edit = func(policy string, r *wasm.Result) {
		if patch := patches[policy]; patch != "" && r.Answer == api.Allow {
			r.Patch, r.Fuel = []byte(patch), 7
		}
	}
	return s
}

// ExpensiveConditions returns n conditions, and then one that is false. Each of the n takes
// at least as much fuel as a plugin uses before it yields to other tasks.
func ExpensiveConditions(n int) string {
	list := "[" + strings.Repeat("1,", 9) + "1]"
	one := fmt.Sprintf("%s.all(i, %s.all(j, %s.all(k, k > i - 5)))", list, list, list)
	return "[match]\nconditions = [" + strings.Repeat(fmt.Sprintf("%q, ", one), n) + "\"false\"]"
}
