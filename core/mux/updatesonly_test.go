package mux

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/pod"
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

func TestWithoutPoliciesABrokenDiskHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		a, _ := enterUpdates(t, disk)
		a.deliver("one", doc("a#0", "web", "u1", "web:1"))
		a.wants("a new pod passes", "ADD u1")
		disk.fill(errors.New("no space left on device"))
		a.deliver("one", doc("a#0", "web", "u1", "web:2"))
		a.wants("a newer version passes, too", "UPDATE u1")
		disk.fill(nil)
		time.Sleep(writeRetryDelay)
		synctest.Wait()
		if got := disk.of("one", "a#0").Pod.Spec.Containers[0].Image; got != "web:2" {
			t.Errorf("the disk has the image %s once it is well again, want that of the newer version", got)
		}
		a.stop()
	})
}

func TestWithoutPoliciesNothingStaysDenied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		a := enter(t, Config{Documents: disk, Gate: newJudge()})
		web := doc("a#0", "web", "u1", "evil")
		a.deliver("one", web)
		a.wants("policy denies it", "ADD u1 deny")
		a.stop()

		again, j := enterUpdates(t, disk)
		again.wants("there are no policies any more", "RESTORE u1 deny", "REMOVE u1", "ADD u1")
		again.deliver("one", web)
		again.wants("its source has it still")
		if asked := j.questions(); asked != nil {
			t.Errorf("asked %q", asked)
		}
		again.stop()

		last, _ := enterUpdates(t, disk)
		last.wants("it stays so", "RESTORE u1")
		last.stop()
	})
}

// TestWhatIsDeniedIsNotWantedAsThat checks that the resources of a newer version of a running
// pod are not reserved if this version is denied.
func TestWhatIsDeniedIsNotWantedAsThat(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{"evil": false, "wait": true, "stuck": true} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, _ := enterUpdates(t, newDisk())
				a.deliver("one", doc("a#0", "web", "u1", "web:1"))
				a.wants("it runs", "ADD u1")
				next := doc("a#0", "web", "u1", image)
				a.deliver("one", next)
				a.wants("a newer version waits")
				instance, err := pod.Instance(next.Pod)
				if err != nil {
					t.Fatal(err)
				}
				if got := a.mux.WantedAs("u1", instance); got != want {
					t.Errorf("WantedAs = %t, want %t", got, want)
				}
				a.stop()
			})
		})
	}
}

func enterUpdates(t *testing.T, disk *disk) (*arena, *judge) {
	t.Helper()
	j := newJudge()
	return enter(t, Config{Documents: disk, Gate: j, UpdatesOnly: true}), j
}

// image returns the image of the first container of a pod that the sync loop has, or "".
func (a *arena) image(uid string) string {
	for _, d := range a.mux.Pods() {
		if string(d.Pod.UID) == uid && d.HandedOn {
			return d.Pod.Spec.Containers[0].Image
		}
	}
	return ""
}
