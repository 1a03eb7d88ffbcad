package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// version returns the pod 1 after an edit; hash is the hash of its document.
func version(hash string, edit func(s *v1.PodSpec)) *v1.Pod {
	p := newStatic("1")
	p.Annotations[pod.AnnotationHash] = hash
	p.Spec.Containers = []v1.Container{{Name: "main", Image: "web:1", Args: []string{"one"}}}
	edit(&p.Spec)
	return p
}

func unedited(*v1.PodSpec) {}

func edits(before, after *v1.Pod) api.Change {
	return api.Change{Op: api.UpdateOp, Old: before, New: after}
}

func TestUpdate_replacesAPodThatIsMadeOtherwise(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(s *v1.PodSpec)
		// path is the field that the event names, empty if the pod runs on.
		path string
	}{
		"args":           {func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, "spec.containers[0].args"},
		"env":            {func(s *v1.PodSpec) { s.Containers[0].Env = []v1.EnvVar{{Name: "A", Value: "b"}} }, "spec.containers[0].env"},
		"a volume":       {func(s *v1.PodSpec) { s.Volumes = []v1.Volume{{Name: "v"}} }, "spec.volumes"},
		"the network":    {func(s *v1.PodSpec) { s.HostNetwork = true }, "spec.hostNetwork"},
		"a label":        {unedited, ""},
		"the image":      {func(s *v1.PodSpec) { s.Containers[0].Image = "web:2" }, ""},
		"a deadline":     {func(s *v1.PodSpec) { s.ActiveDeadlineSeconds = new(int64(600)) }, ""},
		"a grace period": {func(s *v1.PodSpec) { s.TerminationGracePeriodSeconds = new(int64(7)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					before, after := version("one", unedited), version("two", tc.edit)
					w.send(added(before))
					w.expect(t, "create 1")
					w.set(func() { w.judged = nil })
					w.send(edits(before, after))
					if tc.path == "" {
						w.expect(t, "update 1")
						w.expectEvents(t)
						return
					}
					w.expect(t, "kill 1", "return 1")
					w.expectEvents(t, "Normal pod-1 Replaced: "+tc.path+" has changed: the pod is replaced under its UID")
					w.set(func() { w.workers["1"], w.remains["1"] = worker.Finished, true })
					untilHousekeeping()
					w.expect(t)
					w.set(func() { w.remains["1"] = false })
					untilHousekeeping()
					w.expectJudged(t, "pod-1 beside []")
					w.expect(t, "create 1")
					if m, _ := w.loop.pods.get("1"); m.pod != after {
						t.Error("another version runs than the newest")
					}
				})
			})
		})
	}
}

func TestUpdate_backAndForthReplacesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			one := version("one", unedited)
			two := version("two", func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} })
			w.send(added(one))
			w.send(edits(one, two))
			w.send(edits(two, one))
			w.expect(t, "create 1", "kill 1", "return 1")
			w.set(func() { w.workers["1"] = worker.Finished })
			untilHousekeeping()
			w.expect(t, "create 1")
			if m, _ := w.loop.pods.get("1"); m.pod != one {
				t.Error("another version runs than the newest")
			}
		})
	})
}

func TestUpdate_replacesNothingThatDoesNotRun(t *testing.T) {
	t.Parallel()
	before := version("one", unedited)
	after := version("two", func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} })
	fromServer := func(p *v1.Pod) *v1.Pod {
		p = p.DeepCopy()
		p.Annotations[pod.AnnotationSource] = pod.SourceAPI
		return p
	}
	sameDocument := after.DeepCopy() // with another default value
	sameDocument.Annotations[pod.AnnotationHash] = "one"
	for name, tc := range map[string]struct {
		then func(w *world)
		edit api.Change
		want []string
	}{
		"one that is being ended":        {func(w *world) { w.workers["1"] = worker.Terminating }, edits(before, after), []string{"update 1"}},
		"one that has ended":             {func(w *world) { w.statuses["1"] = v1.PodStatus{Phase: v1.PodSucceeded} }, edits(before, after), []string{"update 1"}},
		"one of an API server":           {func(*world) {}, edits(fromServer(before), fromServer(after)), []string{"update 1"}},
		"one whose document is the same": {func(*world) {}, edits(before, sameDocument), []string{"update 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					w.send(added(tc.edit.Old))
					w.expect(t, "create 1")
					w.set(func() { tc.then(w) })
					w.send(tc.edit)
					w.expect(t, tc.want...)
				})
			})
		})
	}
}

// TestRestore_replacesWhatWasMadeOtherwise restores a pod whose containers an earlier agent
// made from a previous version. The disk has the newer version, but the earlier agent did not
// terminate the pod.
func TestRestore_replacesWhatWasMadeOtherwise(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		remade bool
		ended  v1.PodPhase
		want   []string
	}{
		"made alike":                {false, "", []string{"create 1"}},
		"made otherwise":            {true, "", nil},
		"made otherwise, and ended": {true, v1.PodSucceeded, []string{"create 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.remade = map[types.UID]bool{"1": tc.remade}
				w.remains["1"], w.begun["1"] = true, true
				w.strays = []worker.Orphan{{UID: "1", Name: "pod-1"}}
				if tc.ended != "" {
					w.outcomes["1"] = tc.ended
				}
				w.run(t, func() {
					w.send(api.Change{Op: api.Restore, New: version("two", unedited), Restored: true})
					w.expect(t, tc.want...)
					if len(tc.want) > 0 {
						return
					}
					untilHousekeeping()
					w.expect(t, "kill stray 1")
					w.set(func() {
						w.strays, w.remains["1"], w.begun["1"] = nil, false, false
						delete(w.workers, "1")
					})
					time.Sleep(5 * time.Second)
					w.expect(t, "create 1")
				})
			})
		})
	}
}
