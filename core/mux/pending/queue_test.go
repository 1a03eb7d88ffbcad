package pending

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

var start = time.Unix(1_760_000_000, 0)

func exactly(d time.Duration) time.Duration { return d }

func TestAll_isInTheOrderInWhichItemsBegan(t *testing.T) {
	t.Parallel()
	var q Queue[string]
	a, _ := q.Add("a"), q.Add("b")
	q.Add("c")
	q.Ask(a, start)
	if diff := cmp.Diff([]string{"a", "b", "c"}, q.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if q.Remove(a); q.Len() != 2 {
		t.Errorf("%d items are left, want 2", q.Len())
	}
}

func TestOf_countsTheNewestQuestionOnly(t *testing.T) {
	t.Parallel()
	var q Queue[string]
	a, b := q.Add("a"), q.Add("b")
	first, second, other := q.Ask(a, start), q.Ask(a, start), q.Ask(b, start)
	for name, test := range map[string]struct {
		ticket uint64
		want   string
	}{
		"a question that was asked again": {first, ""}, "the newest": {second, "a"}, "of another": {other, "b"}, "no question": {0, ""},
	} {
		if got, ok := q.Of(test.ticket); got != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, test.want)
		}
	}
	q.Answered(a, &api.Verdict{Answer: api.Allow}, start, exactly)
	q.Remove(b)
	for _, ticket := range []uint64{second, other} {
		if got, ok := q.Of(ticket); ok {
			t.Errorf("ticket %d is still that of %q", ticket, got)
		}
	}
	if asked, _ := a.Asked(); asked {
		t.Error("a question is under way after its answer")
	}
}

func TestAnswered_saysWhenWhatIsHeldIsDue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verdicts []api.Verdict
		want     time.Duration // negative if it is never due
	}{
		"allow":                     {[]api.Verdict{{Answer: api.Allow}}, -1},
		"deny":                      {[]api.Verdict{{Answer: api.Deny}}, -1},
		"hold":                      {[]api.Verdict{{Answer: api.Hold}}, 10 * time.Second},
		"hold twice":                {[]api.Verdict{{Answer: api.Hold}, {Answer: api.Hold}}, 20 * time.Second},
		"hold for long":             {make7(api.Verdict{Answer: api.Hold}), 5 * time.Minute},
		"hold for a time":           {[]api.Verdict{{Answer: api.Hold, RetryAfter: 3 * time.Second}}, 3 * time.Second},
		"hold for hardly any time":  {[]api.Verdict{{Answer: api.Hold, RetryAfter: time.Millisecond}}, time.Second},
		"hold for a day":            {[]api.Verdict{{Answer: api.Hold, RetryAfter: 24 * time.Hour}}, 10 * time.Minute},
		"what was held is admitted": {[]api.Verdict{{Answer: api.Hold}, {Answer: api.Allow}}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var q Queue[string]
			it := q.Add("a")
			for i := range test.verdicts {
				q.Ask(it, start)
				q.Answered(it, &test.verdicts[i], start, exactly)
			}
			at, ok := q.NextDue()
			if ok != (test.want >= 0) || ok && !at.Equal(start.Add(test.want)) || !it.DueAt().Equal(at) {
				t.Errorf("due at %v, %v; want %v after the start", at, ok, test.want)
			}
		})
	}
}

func make7(v api.Verdict) []api.Verdict { return []api.Verdict{v, v, v, v, v, v, v} }

func TestTakeDue_returnsEachOnceInTheOrderOfTheItems(t *testing.T) {
	t.Parallel()
	var q Queue[string]
	a, b, c, d := q.Add("a"), q.Add("b"), q.Add("c"), q.Add("d")
	q.SetDue(c, start.Add(time.Second))
	q.SetDue(a, start.Add(3*time.Second))
	q.SetDue(b, start.Add(2*time.Second))
	q.SetDue(d, start.Add(time.Second))
	q.SetDue(d, start.Add(time.Minute))
	if got := q.TakeDue(start); len(got) > 0 {
		t.Errorf("due at once: %v", got)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, q.TakeDue(start.Add(3*time.Second))); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	if got := q.TakeDue(start.Add(4 * time.Second)); len(got) > 0 {
		t.Errorf("due twice: %v", got)
	}
	q.Remove(d)
	if at, ok := q.NextDue(); ok {
		t.Errorf("an item that was removed is due at %v", at)
	}
}
