package simulation

import (
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// world is all that is there whether or not an agent runs.
type world struct {
	seed  uint64
	set   settings
	clock clock
	disk  *disk
	// late counts what goes on in the runtime after the call for it has returned.
	late sync.WaitGroup

	// mu guards all that follows. It is never held while anything waits.
	mu sync.Mutex
	// drawn counts what was drawn of each kind.
	drawn    map[string]uint64
	sources  []*source
	subjects map[types.UID]*subject
	counter  int
	policy   policyBook
	runtime  node
	// agent is the life of the agent that has the node now, nil for none.
	agent *link

	tracing bool
	trace   []string
	// violations are what must not be and is.
	violations []violation
}

// violation is something that must not be.
type violation struct {
	// kind is what of the text does not depend on who it is about.
	kind, text string
}

// Error implements error.
func (v violation) Error() string { return v.text }

func newWorld(s *script, tracing bool) *world {
	w := &world{
		seed: s.seed, set: s.set, tracing: tracing, drawn: map[string]uint64{}, subjects: map[types.UID]*subject{},
		policy: newPolicyBook(), runtime: newNode(),
	}
	w.clock.start = time.Now()
	w.disk = newDisk()
	for _, name := range sourceNames {
		w.sources = append(w.sources, newSource(name))
	}
	w.settleForeign()
	return w
}

// draw returns a number that depends on nothing but the seed, what it is for, and how
// often that was asked for. mu is held.
func (w *world) draw(what string) uint64 {
	n := w.drawn[what]
	w.drawn[what]++
	return mix(w.seed, what, n)
}

// between draws a time from least to most. mu is held.
func (w *world) between(what string, least, most time.Duration) time.Duration {
	return least + time.Duration(w.draw(what)%uint64(most-least+1))
}

// mix is a hash of all it is given.
func mix(seed uint64, what string, n uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(what))
	x := h.Sum64() ^ seed*0x9e3779b97f4a7c15 ^ n*0xd1342543de82ef95
	for range 2 {
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// violated notes what must not be. mu is held.
func (w *world) violated(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("VIOLATION: %s", text)
	w.violations = append(w.violations, violation{format, text})
}

// note writes the trace, if there is one. mu is held.
func (w *world) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(w.trace, fmt.Sprintf("%10.4f ", time.Since(w.clock.start).Seconds())+fmt.Sprintf(format, args...))
	}
}

// first is the first violation, nil for none.
func (w *world) first() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.violations) == 0 {
		return nil
	}
	return w.violations[0]
}
