package worker

import (
	"cmp"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

func TestRemade_comparesWithTheNewestSandbox(t *testing.T) {
	t.Parallel()
	// made is a version of a pod; hash is that of its document.
	made := func(hash string, args ...string) *v1.Pod {
		p := newPod("web", "1", "a")
		p.Annotations[pod.AnnotationHash] = hash
		p.Spec.Containers[0].Args = args
		return p
	}
	marks := func(p *v1.Pod) map[string]string {
		instance, err := pod.Instance(p)
		if err != nil {
			t.Fatal(err)
		}
		from, err := pod.MadeFrom(p)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{pod.AnnotationInstance: instance, pod.AnnotationMadeFrom: from}
	}
	without := func(m map[string]string, key string) map[string]string {
		delete(m, key)
		return m
	}
	fromServer := made("two", "two")
	fromServer.Annotations[pod.AnnotationSource] = pod.SourceAPI
	for name, tc := range map[string]struct {
		sandboxes []map[string]string
		pod       *v1.Pod
		instance  string
		want      bool
	}{
		"nothing runs":                       {nil, made("two", "two"), "", false},
		"of the same document":               {[]map[string]string{marks(made("one", "one"))}, made("one", "one"), "", false},
		"of another one, made alike":         {[]map[string]string{marks(made("one", "one"))}, made("two", "one"), "", false},
		"of another one, made otherwise":     {[]map[string]string{marks(made("one", "one"))}, made("two", "two"), "", true},
		"of the same one, with a default":    {[]map[string]string{marks(made("one", "one"))}, made("one", "two"), "", false},
		"of an earlier version":              {[]map[string]string{without(marks(made("one", "one")), pod.AnnotationMadeFrom)}, made("two", "two"), "", false},
		"of an API server's":                 {[]map[string]string{marks(made("one", "one"))}, fromServer, "", false},
		"the newest is made alike":           {[]map[string]string{marks(made("two", "two")), marks(made("one", "one"))}, made("two", "two"), "", false},
		"what policies changed, the same":    {[]map[string]string{{pod.AnnotationInstance: "i", pod.AnnotationMadeFrom: "m"}}, made("one", "one"), "i", false},
		"what policies changed, another one": {[]map[string]string{{pod.AnnotationInstance: "i", pod.AnnotationMadeFrom: "m"}}, made("one", "one"), "j", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			for i, annotations := range tc.sandboxes { // none is ready
				b.pods["1"] = cmp.Or(b.pods["1"], &status.ObservedPod{UID: "1"})
				b.pods["1"].Sandboxes = append(b.pods["1"].Sandboxes, status.ObservedSandbox{ID: string(rune('a' + i)), Annotations: annotations})
			}
			b.list() // and nothing was inspected
			if got := b.pool.Remade(tc.pod, &api.Origin{Instance: tc.instance}); got != tc.want {
				t.Errorf("%s: %t", name, got)
			}
		})
	}
}
