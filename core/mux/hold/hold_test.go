package hold

import (
	"errors"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// limit is how long the filters of these tests may hold back a version.
const limit = 10 * time.Minute

var start = time.Unix(1_760_000_000, 0)

func version(image string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u1")}, Spec: v1.PodSpec{Containers: []v1.Container{{Image: image}}}}
}

func deferred(after time.Duration) *api.FilterVerdict {
	return &api.FilterVerdict{Answer: api.Defer, After: after, Limit: limit, Reason: "Later"}
}

func TestNext_saysWhetherAVersionPasses(t *testing.T) {
	t.Parallel()
	one, two := version("web:1"), version("web:2")
	dropped := &api.FilterVerdict{Answer: api.Drop, Limit: limit}
	passed := &api.FilterVerdict{Answer: api.Pass}
	for name, test := range map[string]struct {
		before func(*Hold)
		pod    *v1.Pod
		after  time.Duration
		want   Step
	}{
		"nothing was asked":                        {func(*Hold) {}, one, 0, Ask},
		"a question is under way":                  {func(h *Hold) { h.Asked(1, one, start) }, one, time.Hour, Wait},
		"also about an earlier version":            {func(h *Hold) { h.Asked(1, one, start) }, two, 0, Wait},
		"a deferral lasts":                         {func(h *Hold) { h.Asked(1, one, start); h.Answered(deferred(time.Minute), start) }, one, 59 * time.Second, Wait},
		"also for a newer version":                 {func(h *Hold) { h.Asked(1, one, start); h.Answered(deferred(time.Minute), start) }, two, 59 * time.Second, Wait},
		"and ends":                                 {func(h *Hold) { h.Asked(1, one, start); h.Answered(deferred(time.Minute), start) }, one, time.Minute, Ask},
		"a deferral of no time lasts a second":     {func(h *Hold) { h.Asked(1, one, start); h.Answered(deferred(0), start) }, one, 999 * time.Millisecond, Wait},
		"what is dropped waits until it changes":   {func(h *Hold) { h.Asked(1, one, start); h.Answered(dropped, start) }, one, time.Minute, Wait},
		"what has changed is asked about":          {func(h *Hold) { h.Asked(1, one, start); h.Answered(dropped, start) }, two, time.Minute, Ask},
		"what may go on does":                      {func(h *Hold) { h.Asked(1, one, start); h.Answered(passed, start); h.Passes(one) }, one, 0, Pass},
		"what has changed meanwhile does not":      {func(h *Hold) { h.Asked(1, one, start); h.Answered(passed, start); h.Passes(one) }, two, 0, Ask},
		"nor what policies make something else of": {func(h *Hold) { h.Asked(1, one, start); h.Answered(passed, start); h.Passes(one); h.Renew() }, one, 0, Ask},
		"nothing is asked once the time is over":   {func(h *Hold) { h.Asked(1, one, start); h.Answered(dropped, start) }, two, limit, Wait},
		"nor of what is released":                  {func(h *Hold) { h.Release(start) }, one, 0, Wait},
		"a write that failed is tried again":       {func(h *Hold) { h.Failed(errors.New("disk"), start, 10*time.Second) }, one, 9 * time.Second, Wait},
		"policy comes first":                       {func(h *Hold) { h.Asked(1, one, start); h.Cancel() }, one, 0, Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &Hold{}
			test.before(h)
			if got := h.Next(test.pod, start.Add(test.after)); got != test.want {
				t.Errorf("Next = %d, want %d", got, test.want)
			}
		})
	}
}

func TestUntil_countsFromTheFirstAnswer(t *testing.T) {
	t.Parallel()
	h := &Hold{}
	if h.Asked(1, version("web:1"), start); !h.Until().IsZero() || h.Kept() != nil {
		t.Errorf("before an answer it is held back until %v, and kept as %v", h.Until(), h.Kept())
	}
	h.Answered(deferred(time.Minute), start)
	h.Asked(2, version("web:2"), start.Add(time.Minute))
	h.Answered(deferred(time.Minute), start.Add(2*time.Minute))
	if want := start.Add(limit); !h.Until().Equal(want) || h.Over(want.Add(-1)) || !h.Over(want) {
		t.Errorf("held back until %v, over then: %v; want %v", h.Until(), h.Over(want), want)
	}
}

func TestRestored_lastsWhatIsLeft(t *testing.T) {
	t.Parallel()
	kept := &state.Suppressed{Since: start, Until: start.Add(limit)}
	for name, test := range map[string]struct{ now, until time.Time }{
		"minutes later":                  {start.Add(4 * time.Minute), start.Add(limit)},
		"when its time is over":          {start.Add(time.Hour), start.Add(limit)},
		"with a clock that was set back": {start.Add(-time.Hour), start.Add(-time.Hour + limit)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if h := Restored(kept, "u1", test.now); !h.Until().Equal(test.until) || !h.Stored || h.Beside != "u1" {
				t.Errorf("restored %+v, until %v; want %v", h, h.Until(), test.until)
			}
		})
	}
}

func TestDue_anAnswerEndsTheWaitForTheDisk(t *testing.T) {
	t.Parallel()
	h := Restored(&state.Suppressed{Since: start.Add(-limit), Until: start}, "", start)
	h.Asked(1, version("web:1"), start)
	h.Failed(errors.New("no space left on device"), start, 10*time.Second) // the limit has passed
	h.Answered(&api.FilterVerdict{Answer: api.Drop, Limit: 3 * limit}, start.Add(time.Second))
	if due := h.Due(); !due.Equal(start.Add(2 * limit)) {
		t.Errorf("it is looked at again at %v; what is due and does not change is due for ever", due)
	}
}

func TestShow_saysWhyItWaits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verdict *api.FilterVerdict
		wait    string
		reason  string
	}{
		"not answered": {nil, api.WaitAsked, api.ReasonNotAnswered},
		"deferred":     {deferred(time.Minute), api.WaitDeferred, "Later"},
		"dropped":      {&api.FilterVerdict{Answer: api.Drop, Limit: limit, Reason: "Never"}, api.WaitDropped, "Never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &Hold{}
			if h.Asked(1, version("web:1"), start); test.verdict != nil {
				h.Answered(test.verdict, start)
			}
			var u api.WaitingUpdate
			if h.Show(&u); u.Wait != test.wait || u.Reason != test.reason {
				t.Errorf("shown as %s for %s, want %s for %s", u.Wait, u.Reason, test.wait, test.reason)
			}
			if h.HoldsBack() != (test.verdict != nil) {
				t.Errorf("HoldsBack = %v", h.HoldsBack())
			}
		})
	}
}
