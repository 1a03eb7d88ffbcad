package status

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

// held returns the mark of a pod that has been held since some minutes after noon.
func held(message string, minute int) v1.PodCondition {
	return v1.PodCondition{
		Type: api.ConditionAdmitted, Status: v1.ConditionFalse, Reason: "PolicyHeld", Message: message,
		LastTransitionTime: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
	}
}

func updateHeld(message string) v1.PodCondition {
	c := held(message, 0)
	c.Type = api.ConditionUpdateAdmitted
	return c
}

// conditionsOf returns the conditions of the pod u1. Get and Snapshot must return the same ones.
func conditionsOf(t *testing.T, s *Store) []v1.PodCondition {
	t.Helper()
	st, _ := s.Get("u1")
	if d := cmp.Diff(st, s.Snapshot()["u1"]); d != "" {
		t.Errorf("Get and Snapshot differ:\n%s", d)
	}
	return st.Conditions
}

func TestMarksAreLaidOverEveryStatus(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	ready := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue}
	unready := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse}
	status := func(c v1.PodCondition) v1.PodStatus {
		return v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{c}}
	}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *Store)
		want []v1.PodCondition
	}{
		{"without marks a status is what was set", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
		}, []v1.PodCondition{ready}},
		{"a mark comes behind what was set", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0))
		}, []v1.PodCondition{ready, held("x", 0)}},
		{"and stays over the next status", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0))
			set(t, s, p, status(unready))
		}, []v1.PodCondition{unready, held("x", 0)}},
		{"marks made before there is a status show with the first one", func(t *testing.T, s *Store) {
			t.Helper()
			s.SetWaiting("u1", held("x", 0))
			set(t, s, p, status(ready))
		}, []v1.PodCondition{ready, held("x", 0)}},
		{"a pod without a status shows no marks", func(_ *testing.T, s *Store) {
			s.SetWaiting("u1", held("x", 0))
		}, nil},
		{"marks replace all marks of the pod", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0), updateHeld("y"))
			s.SetWaiting("u1", updateHeld("z"))
		}, []v1.PodCondition{ready, updateHeld("z")}},
		{"and of no other pod", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0))
			s.SetWaiting("u2")
			s.SetWaiting("u3", updateHeld("z"))
		}, []v1.PodCondition{ready, held("x", 0)}},
		{"no marks take all marks away", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0))
			s.SetWaiting("u1")
		}, []v1.PodCondition{ready}},
		{"a status that comes back from Get does not keep its marks", func(t *testing.T, s *Store) {
			t.Helper()
			set(t, s, p, status(ready))
			s.SetWaiting("u1", held("x", 0))
			marked, _ := s.Get("u1")
			marked.Phase = v1.PodFailed
			set(t, s, p, Finish(p, marked))
			s.SetWaiting("u1")
		}, []v1.PodCondition{ready}},
		{"Delete drops marks too", func(t *testing.T, s *Store) {
			t.Helper()
			s.SetWaiting("u1", held("x", 0))
			s.Delete("u1")
			set(t, s, p, status(ready))
		}, []v1.PodCondition{ready}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := NewStore()
			tt.do(t, s)
			if d := cmp.Diff(tt.want, conditionsOf(t, s)); d != "" {
				t.Errorf("conditions (-want +got):\n%s", d)
			}
		})
	}
}

func TestAMarkKeepsItsTransitionTimeWhileItsStatusStays(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	set(t, s, p, v1.PodStatus{Phase: v1.PodPending})
	passed := held("", 3)
	passed.Status = v1.ConditionTrue
	for _, step := range []struct {
		name   string
		marks  []v1.PodCondition
		minute int
	}{
		{"a new mark has the time given", []v1.PodCondition{held("x", 1)}, 1},
		{"another message keeps it", []v1.PodCondition{held("y", 2)}, 1},
		{"another status takes the new one", []v1.PodCondition{passed}, 3},
		{"and so does the first status again", []v1.PodCondition{held("y", 4)}, 4},
		{"a mark that was gone is new", nil, 0},
		{"even with the same status", []v1.PodCondition{held("y", 6)}, 6},
	} {
		s.SetWaiting("u1", step.marks...)
		st, _ := s.Get("u1")
		c := api.Condition(&st, api.ConditionAdmitted)
		if step.marks == nil {
			if c != nil {
				t.Errorf("%s: the mark is still there: %+v", step.name, c)
			}
			continue
		}
		if want := noon.Add(time.Duration(step.minute) * time.Minute); c == nil || !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("%s: %+v, want the time %s", step.name, c, want)
		}
	}
}

func TestTimesOfMarksAreWholeSeconds(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	set(t, s, p, v1.PodStatus{Phase: v1.PodPending})
	c := held("x", 0)
	c.LastTransitionTime = metav1.NewTime(noon.Add(300 * time.Millisecond).In(time.FixedZone("x", 3600)))
	given := []v1.PodCondition{c}
	s.SetWaiting("u1", given...)
	if d := cmp.Diff([]v1.PodCondition{held("x", 0)}, conditionsOf(t, s)); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
	if given[0] != c {
		t.Error("the condition passed in was changed")
	}
	given[0].Message = "another"
	if d := cmp.Diff([]v1.PodCondition{held("x", 0)}, conditionsOf(t, s)); d != "" {
		t.Errorf("the caller changed the mark afterwards (-want +got):\n%s", d)
	}
}

func TestMarkingChangesNothingThatWasGivenOut(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	// The slice has room for four conditions, so an append would write into the shared array.
	conditions := append(make([]v1.PodCondition, 0, 4),
		v1.PodCondition{Type: v1.PodReady, Status: "True"}, v1.PodCondition{Type: api.ConditionAdmitted, Status: "True"})
	set(t, s, p, v1.PodStatus{Phase: v1.PodRunning, Conditions: conditions})
	before, _ := s.Get("u1")
	copied := before.DeepCopy()
	s.SetWaiting("u1", held("x", 0))
	during, _ := s.Get("u1")
	marked := during.DeepCopy()
	s.SetWaiting("u1", held("y", 1), updateHeld("z"))
	set(t, s, p, v1.PodStatus{Phase: v1.PodFailed})
	if d := cmp.Diff(*copied, before) + cmp.Diff(*marked, during); d != "" {
		t.Errorf("a status that was given out was changed:\n%s", d)
	}
	if room := before.Conditions[:cap(before.Conditions)]; len(room) > 1 && room[1] != (v1.PodCondition{}) {
		t.Errorf("a mark was written behind a status that was given out: %+v", room)
	}
}

func TestDeleteEndedLeavesAStatusThatIsNewerThanTheEnd(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	for phase, stays := range map[v1.PodPhase]bool{
		v1.PodPending: true, v1.PodRunning: true, v1.PodSucceeded: false, v1.PodFailed: false,
	} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			s := NewStore()
			set(t, s, p, v1.PodStatus{Phase: phase})
			s.SetWaiting("u1", held("x", 0))
			s.DeleteEnded("u1")
			s.DeleteEnded("unknown")
			if _, ok := s.Get("u1"); ok != stays {
				t.Errorf("there is a status: %v, want %v", ok, stays)
			}
			set(t, s, p, v1.PodStatus{Phase: v1.PodPending})
			if got := len(conditionsOf(t, s)) == 1; got != stays {
				t.Errorf("the mark is there: %v, want %v", got, stays)
			}
		})
	}
}

func TestMarkingIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 100 {
				s.SetWaiting("u1", held(strconv.Itoa(n), n))
				if _, err := s.Set(p, v1.PodStatus{Message: strconv.Itoa(n)}); err != nil {
					t.Error(err)
				}
				st, _ := s.Get("u1")
				if c := api.Condition(&st, api.ConditionAdmitted); c != nil && c.Reason != "PolicyHeld" {
					t.Errorf("a mark that nobody made: %+v", c)
				}
				s.Snapshot()
			}
		})
	}
	wg.Wait()
}

func TestWarningsAndMarksLeaveEachOther(t *testing.T) {
	t.Parallel()
	s := NewStore()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	set(t, s, p, v1.PodStatus{Phase: v1.PodRunning})
	warning := func(message string) v1.PodCondition {
		return v1.PodCondition{
			Type: api.ConditionPolicyWarning, Status: v1.ConditionTrue, Reason: "PolicyWarning", Message: message, LastTransitionTime: metav1.NewTime(noon),
		}
	}
	check := func(step string, want ...v1.PodCondition) {
		t.Helper()
		if diff := cmp.Diff(want, conditionsOf(t, s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	s.SetPolicyWarning("u1", "PolicyWarning", "one", noon)
	s.SetWaiting("u1", updateHeld("x"))
	check("both", updateHeld("x"), warning("one"))
	s.SetPolicyWarning("u1", "PolicyWarning", "two", noon.Add(time.Hour))
	check("another warning has the time of the first", warning("two"), updateHeld("x"))
	s.SetWaiting("u1")
	check("without the mark", warning("two"))
	changed := warning("p changed /a")
	changed.Type, changed.Reason = api.ConditionMutated, "PolicyMutated"
	s.SetMutated("u1", "PolicyMutated", "p changed /a", noon)
	check("with what was changed", changed, warning("two"))
	s.SetWaiting("u1")
	s.SetPolicyWarning("u1", "PolicyWarning", "", noon)
	check("without the warning", changed)
	edited := warning("spec has changed")
	edited.Type, edited.Reason = api.ConditionEditIgnored, "HasEnded"
	s.SetEditIgnored("u1", "HasEnded", "spec has changed", noon)
	check("with an edit that is ignored", edited, changed)
	s.SetMutated("u1", "PolicyMutated", "", noon)
	check("without what was changed", edited)
	s.SetEditIgnored("u1", "HasEnded", "", noon)
	check("without the edit")
	set(t, s, p, v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{warning("kept by nobody")}})
	check("one that somebody else sets")
}
