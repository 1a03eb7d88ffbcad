package plane

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// witness is between the mux and the plane, and records every question and its
// verdict.
type witness struct {
	mux.Gate

	mu sync.Mutex
	// asked is how many questions were asked, and answered how many have an answer.
	asked, answered int
	// given maps an instance and the digests of the sets to the verdict. Both are hashes, because
	// there are many, and the tests measure memory.
	given map[uint64]uint64
	seed  maphash.Seed
	// check checks each verdict; nil for no check.
	check  func(q *api.Question, v *api.Verdict) error
	faults []string
}

func newWitness(g mux.Gate) *witness {
	return &witness{Gate: g, given: make(map[uint64]uint64, bookkeeping), seed: maphash.MakeSeed()}
}

// Judge implements mux.Gate.
func (w *witness) Judge(q api.Question, answer func(api.Verdict)) {
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	var once bool
	w.Gate.Judge(q, func(v api.Verdict) {
		w.mu.Lock()
		if once {
			w.fault("%s is answered twice", q.Pod.Name)
		}
		once = true
		w.answered++
		w.see(&q, &v)
		w.mu.Unlock()
		answer(v)
	})
}

// see compares a verdict with earlier verdicts.
func (w *witness) see(q *api.Question, v *api.Verdict) {
	if w.check != nil {
		if err := w.check(q, v); err != nil {
			w.fault("%s/%s: %v: %+v", q.Pod.Namespace, q.Pod.Name, err, v)
		}
	}
	// A plugin that fails is not asked for a while, and without a budget no plugin is asked:
	// such a verdict does not depend only on the set.
	if v.Reason == api.ReasonBudgetExhausted || slices.ContainsFunc(v.Opinions, func(o api.Opinion) bool { return o.Failure != "" }) {
		return
	}
	instance, err := pod.Instance(q.Pod)
	if err != nil {
		w.fault("%v", err)
	}
	key, said := w.hash(instance+" "+strings.Join(v.Sets, " ")), w.hash(saidBy(v))
	if before, ok := w.given[key]; ok && before != said {
		w.fault("%s/%s: the same sets have said something else before: %s", q.Pod.Namespace, q.Pod.Name, saidBy(v))
	}
	w.given[key] = said
}

func (w *witness) hash(text string) uint64 { return maphash.String(w.seed, text) }

func (w *witness) fault(format string, args ...any) {
	const most = 5
	if len(w.faults) < most {
		w.faults = append(w.faults, fmt.Sprintf(format, args...))
	}
}

// open returns how many questions have no answer yet.
func (w *witness) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked - w.answered
}

// saidBy returns everything of a verdict except its time.
func saidBy(v *api.Verdict) string {
	timeless := *v
	timeless.At = time.Time{}
	return fmt.Sprintf("%+v", timeless)
}
