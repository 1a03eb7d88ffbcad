package pod

import (
	"encoding/json"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func textPods() map[string]*v1.Pod {
	const hostile = "\"<&>\u2028\\\x01\xff}"
	return map[string]*v1.Pod{
		"empty": {},
		"full": {
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "a", Name: "web", UID: "u" + hostile, Labels: map[string]string{"b": hostile, "a": ""},
				Annotations:   map[string]string{hostile: "x", AnnotationSource: "static", AnnotationHash: "h"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
			},
			Spec: v1.PodSpec{NodeName: hostile, Containers: []v1.Container{{
				Name: "c", Resources: v1.ResourceRequirements{Limits: v1.ResourceList{"memory": resource.MustParse("1.5Gi")}},
			}}},
			Status: v1.PodStatus{Phase: v1.PodRunning},
		},
		"only what this node writes": {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationSeen: "x"}}},
	}
}

// A text that is put together from parts must equal the output of encoding/json for the whole
// value. Records and the hashes of pods depend on every byte.
func TestTexts_areThoseOfTheWholeValue(t *testing.T) {
	t.Parallel()
	for name, p := range textPods() {
		for _, texts := range []*Texts{nil, {}} {
			want, err := json.Marshal(WholeOf(p))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := texts.Whole(p); err != nil || string(got) != string(want) {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
			}
			annotations := sharedAnnotations(p)
			delete(annotations, AnnotationHash)
			if want, err = json.Marshal(struct {
				UID                 string
				Spec                *v1.PodSpec
				Labels, Annotations map[string]string
			}{string(p.UID), &p.Spec, p.Labels, annotations}); err != nil {
				t.Fatal(err)
			}
			if got, err := texts.objectHash(p, "final"); err != nil || got != Digest(append([]byte("final\x00"), want...))[:32] {
				t.Errorf("%s: hash %s, %v, want that of %s", name, got, err, want)
			}
		}
	}
}

func TestTexts_writeASpecOnce(t *testing.T) {
	t.Parallel()
	p := textPods()["full"]
	var texts Texts
	before, err := texts.Whole(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.NodeName = "changed, as no spec may be"
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if again, err := texts.Whole(p); err != nil || string(again) != string(before) {
				t.Errorf("the spec is written again: %s, %v", again, err)
			}
		})
	}
	all.Wait()
	if again, err := (*Texts)(nil).Whole(p); err != nil || string(again) == string(before) {
		t.Errorf("nothing keeps the spec, but it is the old one: %v", err)
	}
}
