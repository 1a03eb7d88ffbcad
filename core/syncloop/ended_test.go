package syncloop

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

const editIgnored = " has changed, but the pod has ended: to run it again, take its manifest away and put it back, or give it another UID"

func (w *world) expectIgnoredEdit(t *testing.T, uid types.UID, want string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.ignoredEdits[uid]; got != want {
		t.Errorf("of %s an edit is shown as %q, want %q", uid, got, want)
	}
}

func TestUpdate_editOfAnEndedPodIsShown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase v1.PodPhase
		edit  func(s *v1.PodSpec)
		// path is the field that is told, empty for none.
		path string
	}{
		"args":                   {v1.PodSucceeded, func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, "spec.containers[0].args"},
		"a volume of a failed":   {v1.PodFailed, func(s *v1.PodSpec) { s.Volumes = []v1.Volume{{Name: "v"}} }, "spec.volumes"},
		"the image":              {v1.PodSucceeded, func(s *v1.PodSpec) { s.Containers[0].Image = "web:2" }, "spec.containers[0].image"},
		"the restart policy":     {v1.PodFailed, func(s *v1.PodSpec) { s.RestartPolicy = v1.RestartPolicyAlways }, "spec.restartPolicy"},
		"a label":                {v1.PodSucceeded, unedited, ""},
		"args of one that runs":  {v1.PodRunning, func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, ""},
		"image of one that runs": {v1.PodRunning, func(s *v1.PodSpec) { s.Containers[0].Image = "web:2" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					before, after := version("one", unedited), version("two", tc.edit)
					w.send(added(before))
					w.set(func() { w.statuses["1"] = v1.PodStatus{Phase: tc.phase} })
					w.send(edits(before, after))
					if tc.path == "" {
						w.expectIgnoredEdit(t, "1", "")
						return
					}
					w.expectIgnoredEdit(t, "1", tc.path+editIgnored)
					w.expectEvents(t, "Warning pod-1 HasEnded: "+tc.path+editIgnored)
					w.expect(t, "create 1", "update 1")
					w.send(edits(after, version("three", unedited)))
					w.expectIgnoredEdit(t, "1", "")
				})
			})
		})
	}
}

func TestRemove_ofAnEndedPodForgetsItsEdit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			before := version("one", unedited)
			after := version("two", func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} })
			w.send(added(before))
			w.set(func() { w.statuses["1"] = v1.PodStatus{Phase: v1.PodSucceeded} })
			w.send(edits(before, after))
			w.send(api.Change{Op: api.Remove, Old: after})
			w.expectIgnoredEdit(t, "1", "")
		})
	})
}

func TestRestore_showsThatAnEndedPodWasEdited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.remade = map[types.UID]bool{"1": true}
		w.remains["1"], w.begun["1"] = true, true
		w.strays = []worker.Stray{{UID: "1", Name: "pod-1"}}
		w.outcomes["1"] = v1.PodSucceeded
		w.run(t, func() {
			w.send(api.Change{Op: api.Restore, New: version("two", unedited), Restored: true})
			w.expect(t, "create 1")
			w.expectIgnoredEdit(t, "1", "the document"+editIgnored)
		})
	})
}
