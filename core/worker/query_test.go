package worker

import (
	stdcmp "cmp"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

func TestRemade_comparesWithTheNewestSandbox(t *testing.T) {
	t.Parallel()
	// made returns a version of a pod; hash is the hash of its document.
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
			for i, annotations := range tc.sandboxes { // no sandbox is ready
				b.pods["1"] = stdcmp.Or(b.pods["1"], &status.ObservedPod{UID: "1"})
				b.pods["1"].Sandboxes = append(b.pods["1"].Sandboxes, status.ObservedSandbox{ID: string(rune('a' + i)), Annotations: annotations})
			}
			b.list() // there is no inspection
			if got := b.pool.ManifestChanged(tc.pod, &api.Origin{Instance: tc.instance}); got != tc.want {
				t.Errorf("%s: %t", name, got)
			}
		})
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	type answers struct {
		Has, KnownTerminated, TerminationRequested, MayRunContainers bool
		Stopping, RuntimeRemovable, ContentRemovable, Done           bool
	}
	ask := func(p *Pool, uid types.UID) answers {
		return answers{
			p.Has(uid), p.KnownTerminated(uid), p.TerminationRequested(uid), p.MayRunContainers(uid),
			p.Stopping(uid), p.RuntimeRemovable(uid), p.ContentRemovable(uid), p.Done(uid),
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		expect := func(when string, uid types.UID, want answers) {
			t.Helper()
			if diff := cmp.Diff(want, ask(b.pool, uid)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		expect("unknown, before Known was called", "0", answers{MayRunContainers: true})
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.pool.SyncKnownPods(wants("1"))
		expect("unknown, afterwards", "0", answers{Stopping: true, RuntimeRemovable: true, ContentRemovable: true, Done: true})
		running(b, newPod("stray", "2", "a"))
		expect("unknown, but running", "2", answers{Stopping: true, Done: true})
		expect("syncing", "1", answers{Has: true, MayRunContainers: true})

		b.fail["teardown"] = errBroken
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.kill(p)
		synctest.Wait()
		expect("terminating", "1", answers{Has: true, TerminationRequested: true, MayRunContainers: true, Stopping: true})
		close(held)
		synctest.Wait()
		expect("terminated, not deleted", "1", answers{
			Has: true, KnownTerminated: true, TerminationRequested: true, Stopping: true, RuntimeRemovable: true,
		})
		b.pool.SyncKnownPods(wants())
		expect("terminated and deleted", "1", answers{
			Has: true, KnownTerminated: true, TerminationRequested: true, Stopping: true, RuntimeRemovable: true, ContentRemovable: true,
		})
	})
}
