package admission

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

func TestAHeldPodIsPendingAndSaysWhy(t *testing.T) {
	t.Parallel()
	r := newRig()
	p := newPod("1")
	r.Waits.Waits(held(p, `policy "p": no signature`))
	want := v1.PodStatus{
		ObservedGeneration: 3, Phase: v1.PodPending, QOSClass: v1.PodQOSBestEffort,
		Conditions: []v1.PodCondition{mark("wardlet.dev/Admitted", "Policyhold", `policy "p": no signature`, 1)},
	}
	if d := cmp.Diff(want, r.status(t, "1")); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	r.expectEvents(t, `Warning 1 Policyhold: held: policy "p": no signature`)
}

func TestAHeldPodThatWasRejectedShowsNothingOfThat(t *testing.T) {
	t.Parallel()
	r := newRig()
	p := newPod("1")
	if _, err := r.store.Set(p, v1.PodStatus{Phase: v1.PodFailed, Reason: "PolicyDenied", Message: "Pod was rejected"}); err != nil {
		t.Fatal(err)
	}
	r.Waits.Waits(held(p, "x"))
	if st := r.status(t, "1"); st.Phase != v1.PodPending || st.Reason != "" || st.Message != "" || st.StartTime != nil {
		t.Errorf("status = %+v, want Pending without reason, message and start time", st)
	}
}

func TestAnUpdateThatWaitsIsShownOnWhatRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		wait  func(running *v1.Pod) api.Waiting
		want  v1.PodCondition
		event string
	}{
		{
			"a held version of the same pod",
			func(running *v1.Pod) api.Waiting { return update(newPod("1"), running, api.Hold, "x") },
			mark("wardlet.dev/UpdateAdmitted", "Policyhold", "x", 1), "Warning 1 Policyhold: update held: x",
		},
		{
			"a denied version of the same pod",
			func(running *v1.Pod) api.Waiting { return update(newPod("1"), running, api.Deny, "x") },
			mark("wardlet.dev/UpdateAdmitted", "Policydeny", "x", 1), "Warning 1 Policydeny: update denied: x",
		},
		{
			"a denied replacement",
			func(running *v1.Pod) api.Waiting { return update(newPod("2"), running, api.Deny, "x") },
			mark("wardlet.dev/UpdateAdmitted", "Policydeny", "x", 1), "Warning 1 Policydeny: update denied: x",
		},
		{
			"a version that a filter holds back",
			func(running *v1.Pod) api.Waiting { return suppressed(newPod("1"), running, noon.Add(time.Hour)) },
			mark("wardlet.dev/UpdateAdmitted", "Policyhold", "at night", 1),
			"Warning 1 Policyhold: update suppressed, passes at 2026-03-01T13:00:00Z at the latest: at night",
		},
		{
			"a version that a filter holds back, nobody knows for how long",
			func(running *v1.Pod) api.Waiting { return suppressed(newPod("1"), running, time.Time{}) },
			mark("wardlet.dev/UpdateAdmitted", "Policyhold", "at night", 1), "Warning 1 Policyhold: update suppressed: at night",
		},
		{
			"a version of which the filter has said nothing yet",
			func(running *v1.Pod) api.Waiting {
				x := suppressed(newPod("1"), running, time.Time{})
				x.Verdict = api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
				return x
			},
			mark("wardlet.dev/UpdateAdmitted", "FilterNotAnswered", "", 1),
			"Warning 1 FilterNotAnswered: update suppressed: the filter has not answered yet",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig()
			running := newPod("1")
			r.runs(t, running)
			before := r.status(t, "1")
			r.Waits.Waits(c.wait(running))
			st := r.status(t, "1")
			if d := cmp.Diff([]v1.PodCondition{c.want}, st.Conditions); d != "" {
				t.Errorf("conditions (-want +got):\n%s", d)
			}
			if st.Conditions = nil; cmp.Diff(before, st) != "" {
				t.Errorf("the status of what runs is another:\n%s", cmp.Diff(before, st))
			}
			if _, ok := r.store.Get("2"); ok {
				t.Error("a replacement that waits has a status beside that of the pod that runs")
			}
			r.expectEvents(t, c.event)
		})
	}
}

func TestANewPodThatAFilterHoldsBackIsNotCalledHeld(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.Waits.Waits(suppressed(newPod("1"), nil, noon.Add(time.Hour)))
	r.expectEvents(t, "Warning 1 Policyhold: suppressed, passes at 2026-03-01T13:00:00Z at the latest: at night")
}

func TestAnEventComesForEveryVerdictThatSaysSomethingNew(t *testing.T) {
	t.Parallel()
	r := newRig()
	p, running := newPod("2"), newPod("1")
	r.runs(t, running)
	again := update(p, running, api.Hold, "x")
	again.Verdict.At, again.RetryAt = noon, noon
	for _, x := range []api.Waiting{
		update(p, running, api.Hold, "x"), again, update(p, running, api.Hold, "y"), update(p, running, api.Deny, "y"),
	} {
		r.Waits.Waits(x)
	}
	r.expectEvents(t,
		"Warning 1 Policyhold: update held: x", "Warning 1 Policyhold: update held: y", "Warning 1 Policydeny: update denied: y")
	want := []v1.PodCondition{mark("wardlet.dev/UpdateAdmitted", "Policydeny", "y", 1)}
	if d := cmp.Diff(want, r.status(t, "1").Conditions); d != "" {
		t.Errorf("the condition is not that of the newest verdict since the first (-want +got):\n%s", d)
	}
	r.Passed("1")
	r.Waits.Waits(update(p, running, api.Deny, "y"))
	r.expectEvents(t, "Warning 1 Policydeny: update denied: y")
}

func TestWhatEndsAWait(t *testing.T) {
	t.Parallel()
	p, running := newPod("2"), newPod("1")
	for _, c := range []struct {
		name string
		wait api.Waiting
		end  func(w *Waits)
		uid  types.UID
		// phase is the phase of the status that remains, empty if none does.
		phase v1.PodPhase
	}{
		{"a held pod that passed stays pending until its worker knows better", held(p, "x"), func(w *Waits) { w.Passed("2") }, "2", v1.PodPending},
		{"of a held pod that is gone nothing stays", held(p, "x"), func(w *Waits) { w.Gone("2") }, "2", ""},
		{"an update that passed leaves what runs alone", update(p, running, api.Deny, "x"), func(w *Waits) { w.Passed("1") }, "1", v1.PodRunning},
		{"a pod that runs keeps its status when what waited is gone", update(p, running, api.Deny, "x"), func(w *Waits) { w.Gone("1") }, "1", v1.PodRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig()
			r.runs(t, running)
			other := held(newPod("3"), "x")
			r.Waits.Waits(other)
			r.Waits.Waits(c.wait)
			c.end(r.Waits)
			st, ok := r.store.Get(c.uid)
			if ok != (c.phase != "") || st.Phase != c.phase || st.Conditions != nil {
				t.Errorf("status = %+v, %v; want phase %q without conditions", st, ok, c.phase)
			}
			if d := cmp.Diff([]api.Waiting{other}, r.List()); d != "" {
				t.Errorf("what waits (-want +got):\n%s", d)
			}
			if len(r.status(t, "3").Conditions) != 1 {
				t.Error("another pod's condition is gone")
			}
			// A later status has no mark.
			if _, err := r.store.Set(newPod(c.uid), v1.PodStatus{Phase: v1.PodRunning}); err != nil {
				t.Fatal(err)
			}
			if st := r.status(t, c.uid); st.Conditions != nil {
				t.Errorf("the condition came back: %+v", st.Conditions)
			}
		})
	}
}

func TestTheEndOfAWaitThatNobodyKnowsHarmsNoPod(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.runs(t, newPod("1"))
	r.Passed("1")
	r.Gone("1")
	r.Forgotten("1")
	if st := r.status(t, "1"); st.Phase != v1.PodRunning || st.Conditions != nil {
		t.Errorf("status = %+v, want that of the pod that runs", st)
	}
	r.expectEvents(t)
}

func TestAHeldPodIsShownAgainWhenItsStatusWasDeleted(t *testing.T) {
	t.Parallel()
	r := newRig()
	p := newPod("1")
	r.Waits.Waits(held(p, "x"))
	r.expectEvents(t, "Warning 1 Policyhold: held: x")
	r.store.Delete("1") // as the worker of an earlier pod with this UID does
	r.Forgotten("1")
	want := []v1.PodCondition{mark("wardlet.dev/Admitted", "Policyhold", "x", 2)}
	if st := r.status(t, "1"); st.Phase != v1.PodPending || cmp.Diff(want, st.Conditions) != "" {
		t.Errorf("status = %+v, want it held again", st)
	}
	r.expectEvents(t)
}

func TestListIsOrderedByNamespaceAndName(t *testing.T) {
	t.Parallel()
	r := newRig()
	named := func(uid types.UID, namespace, name string) *v1.Pod {
		p := newPod(uid)
		p.Namespace, p.Name = namespace, name
		return p
	}
	running := named("0", "a", "a")
	r.runs(t, running)
	all := []api.Waiting{
		held(named("5", "a", "b"), "x"),
		held(named("1", "b", "a"), "x"),
		held(named("3", "b", "c"), "x"),
		held(named("4", "b", "c"), "x"),
		update(named("2", "c", "z"), running, api.Deny, "x"),
	}
	for _, x := range slices.Backward(all) {
		r.Waits.Waits(x)
	}
	for range 10 { // the order is tried repeatedly because List reads a map
		if d := cmp.Diff(all, r.List()); d != "" {
			t.Fatalf("what waits (-want +got):\n%s", d)
		}
	}
	r.List()[0] = api.Waiting{}
	if d := cmp.Diff(all, r.List()); d != "" {
		t.Errorf("a list that was given out is not the caller's own (-want +got):\n%s", d)
	}
}

// refusing is a store that refuses every status.
type refusing struct{ *status.Store }

func (refusing) Set(*v1.Pod, v1.PodStatus) (bool, error) { return false, errors.New("not this one") }

func TestAStatusThatIsNotStoredIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.statuses = refusing{r.store}
	r.Waits.Waits(held(newPod("1"), "x"))
	r.expectEvents(t, "Warning 1 StatusNotStored: not this one", "Warning 1 Policyhold: held: x")
}

func TestWaitsIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	r := newRig()
	var wg sync.WaitGroup
	for i := range 4 {
		p := newPod(types.UID(strconv.Itoa(i % 2)))
		wg.Go(func() {
			for n := range 100 {
				r.Waits.Waits(held(p, strconv.Itoa(n)))
				r.List()
				r.Forgotten(p.UID)
				r.Passed(p.UID)
				r.Gone(p.UID)
			}
		})
	}
	wg.Wait()
	if got := r.List(); len(got) != 0 {
		t.Errorf("%d still wait", len(got))
	}
}
