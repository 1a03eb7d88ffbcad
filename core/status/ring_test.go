package status

import (
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// tenants owns each namespace up to its dash.
func tenants(namespace string) string {
	tenant, _, owned := strings.Cut(namespace, "-")
	if !owned {
		return ""
	}
	return tenant
}

func TestRingKeepsAShareForEveryOwner(t *testing.T) {
	t.Parallel()
	now := noon
	r := NewSharedRing(3, time.Hour, func() time.Time { return now }, tenants)
	say := func(namespace, message string) {
		p := testPod(v1.RestartPolicyAlways, "")
		p.Namespace = namespace
		r.Event(p, v1.EventTypeNormal, "R", message)
		now = now.Add(time.Second)
	}
	say("a-web", "1")
	say("default", "2")
	say("b-web", "3")
	say("kube-system", "4")
	for i := range 1000 { // a flood of two namespaces of one tenant
		say([]string{"a-web", "a-db"}[i%2], "flood "+strconv.Itoa(i))
	}
	want := "u1/R/2 x1, u1/R/3 x1, u1/R/4 x1, u1/R/flood 997 x1, u1/R/flood 998 x1, u1/R/flood 999 x1"
	if got := brief(r.List()); got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
}

func TestRingNumbersWhatHappens(t *testing.T) {
	t.Parallel()
	r := NewSharedRing(10, time.Hour, func() time.Time { return noon }, tenants)
	p := testPod(v1.RestartPolicyAlways, "")
	for _, reason := range []string{"A", "B", "A"} {
		r.Event(p, v1.EventTypeNormal, reason, "")
	}
	got := r.List()
	if len(got) != 2 || got[0].Reason != "B" || got[0].Seq != 2 || got[1].Reason != "A" || got[1].Seq != 3 || got[1].Count != 2 {
		t.Errorf("events: %+v", got)
	}
}

func TestRingKeepsSoMuchOfAMessage(t *testing.T) {
	t.Parallel()
	r := NewRing(10, time.Hour, func() time.Time { return noon })
	p := testPod(v1.RestartPolicyAlways, "")
	for _, letter := range []string{"x", "é"} {
		for _, length := range []int{1024, 1025, 2000, 3000} {
			r.Event(p, v1.EventTypeNormal, "R", strings.Repeat(letter, length))
		}
	}
	got := r.List()
	if len(got) != 4 {
		t.Fatalf("%d events, want 4: those that are too long are the same", len(got))
	}
	for i, want := range []string{
		strings.Repeat("x", 1024), strings.Repeat("x", 1021) + "...", strings.Repeat("é", 1024), strings.Repeat("é", 1021) + "...",
	} {
		if got[i].Message != want || got[i].Count != 1+2*(i%2) {
			t.Errorf("event %d has %d bytes and was %d times", i, len(got[i].Message), got[i].Count)
		}
	}
}

func TestRingTellsListeners(t *testing.T) {
	t.Parallel()
	r := NewRing(3, time.Hour, func() time.Time { return noon })
	changed, stop := r.Listen()
	defer stop()
	for range 2 { // a repeat is news, too
		r.Event(testPod(v1.RestartPolicyAlways, ""), v1.EventTypeNormal, "R", "m")
		if !told(changed) {
			t.Error("a listener was not told")
		}
	}
}

func TestStoreTellsOfWhatMayBeAnother(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	for name, tt := range map[string]struct {
		does func(s *Store)
		want bool
	}{
		"a new status":             {func(s *Store) { set(t, s, p, v1.PodStatus{Phase: v1.PodFailed}) }, true},
		"the same status":          {func(s *Store) { set(t, s, p, v1.PodStatus{Phase: v1.PodRunning}) }, false},
		"a mark":                   {func(s *Store) { s.Mark(p.UID, v1.PodCondition{Type: ConditionAdmitted}) }, true},
		"a warning":                {func(s *Store) { s.Warn(p.UID, "R", "m", noon) }, true},
		"a pod that is forgotten":  {func(s *Store) { s.Delete(p.UID) }, true},
		"a pod that has not ended": {func(s *Store) { s.DeleteEnded(p.UID) }, false},
		"a question":               {func(s *Store) { s.Get(p.UID) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := NewStore(), 0
			set(t, s, p, v1.PodStatus{Phase: v1.PodRunning})
			s.Tell(func() { calls++ })
			if tt.does(s); (calls > 0) != tt.want {
				t.Errorf("told %d times, want news %v", calls, tt.want)
			}
		})
	}
}
