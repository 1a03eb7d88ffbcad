package mux

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestAGateForUpdatesOnlyIsAskedAboutNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		a, j := enterUpdates(t, disk)
		asked := func(want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, j.questions()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		}
		a.deliver("one", doc("a#0", "web", "u1", "evil"))
		a.wants("a new pod passes", "ADD u1")
		asked()
		a.deliver("one", doc("a#0", "web", "u1", "web:2"))
		a.wants("a newer version is let through", "UPDATE u1")
		asked("UPDATE u1 old evil")
		a.deliver("one", doc("a#0", "web", "u1", "evil"))
		a.wants("one that is denied waits")
		asked("UPDATE u1 old web:2")
		a.deliver("two", doc("b#0", "db", "u2", "evil"))
		a.wants("others go on", "ADD u2")
		a.deliver("one", doc("a#0", "web", "u1", "evil"), doc("c#0", "new", "u3", "wait"))
		a.wants("also of its source", "ADD u3")
		asked()
		a.stop()

		again, k := enterUpdates(t, disk)
		again.deliver("one", doc("a#0", "web", "u1", "evil"), doc("c#0", "new", "u3", "wait"))
		again.deliver("two", doc("b#0", "db", "u2", "evil"))
		again.deliver("api")
		again.wants("the version before is restored", "RESTORE u1", "RESTORE u3", "RESTORE u2")
		if p := again.image("u1"); p != "web:2" {
			t.Errorf("u1 has the image %s, want that which was let through", p)
		}
		if diff := cmp.Diff([]string{"UPDATE u1 old web:2"}, k.questions()); diff != "" {
			t.Errorf("asked after a restart (-want +got):\n%s", diff)
		}
		again.deliver("one", doc("a#0", "web", "u4", "evil"), doc("c#0", "new", "u3", "wait"))
		again.wants("a replacement is none", "REMOVE u1 for u4", "ADD u4 for u1")
		again.deliver("one")
		again.wants("an end is none", "REMOVE u4", "REMOVE u3")
		again.stop()
	})
}

func enterUpdates(t *testing.T, disk *disk) (*arena, *judge) {
	t.Helper()
	j := newJudge()
	return enter(t, Config{Documents: disk, Gate: j, UpdatesOnly: true}), j
}

// image is that of the first container of a pod as the sync loop has it.
func (a *arena) image(uid string) string {
	for _, d := range a.mux.Pods() {
		if string(d.Pod.UID) == uid && d.HandedOn {
			return d.Pod.Spec.Containers[0].Image
		}
	}
	return ""
}
