package simulation

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
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

// clock is the node's: its wall clock may be set, its monotonic readings go on.
type clock struct {
	start time.Time
	// shift is by how many seconds the wall clock is wrong.
	shift atomic.Int64
}

// timeParts are those of a time.Time, of which the package time offers no way to set
// one reading without the other. TestTheWallClockJumpsAndDurationsDoNot watches
// over the layout.
type timeParts struct {
	// wall has a flag for the monotonic reading, 33 bits of seconds since 1885 and
	// 30 bits of nanoseconds.
	wall uint64
	// ext is the monotonic reading, in nanoseconds.
	ext int64
	loc *time.Location
}

const (
	hasMonotonic   = 1 << 63
	nanosecondBits = 30
	// from1885 are the seconds from the beginning of 1885 to that of 1970.
	from1885 = 2682288000
)

// now is the time with a monotonic reading, which time.Now has not in a bubble.
func (c *clock) now() time.Time {
	t := time.Now()
	p := timeParts{
		wall: hasMonotonic | uint64(t.Unix()+c.shift.Load()+from1885)<<nanosecondBits | uint64(t.Nanosecond()),
		ext:  int64(t.Sub(c.start)) + 1,
	}
	return *(*time.Time)(unsafe.Pointer(&p))
}

// wall is the time as a container runtime tells it: what the wall clock says.
func (c *clock) wall() time.Time { return c.now().Round(0) }

// jump sets the wall clock.
func (c *clock) jump(by time.Duration) { c.shift.Add(int64(by / time.Second)) }

// life is how often a pod has come back, as far as one life of the agent has seen it.
type life struct {
	// erased is the life of the agent in which its document went last, nil for none.
	erased *link
	// by is the life of the agent that saw that and that it came back then. since is
	// how many lapses there were when it did, begun the same of the newest version of
	// which a container has begun.
	by           *link
	since, begun int
}

// returns records that a document of a source stands for a pod that had gone. An agent
// that knows that it had must run it anew. mu is held.
func (w *world) returns(s *source, p *v1.Pod) {
	l := &w.subject(p.UID).life
	if l.erased != nil && l.erased == w.agent && s.pods != nil && !s.pods[p.UID] {
		l.by, l.since = w.agent, lapsesOf(p)
	}
}

// stillborn says what is wrong with a pod of which nothing has run since it came back,
// empty for nothing. Whose life it is that runs where documents contend for a UID, or a
// name, is another test's. mu is held.
func (w *world) stillborn(a *agent, p *v1.Pod) string {
	sub := w.subject(p.UID)
	l := &sub.life
	if l.by != a.link || l.begun >= l.since || sub.contested {
		return ""
	}
	st := a.status(p.UID)
	return fmt.Sprintf("it has come back and not run since; the status says %s %q", st.Phase, st.Reason)
}

// awayAndBack has documents of a script go and come back soon, as they were, mostly at
// its end: what comes after hides how they fare. Only some seeds have that: what others
// do is as it always was.
func awayAndBack(s *script) {
	if s.seed%16 >= 4 {
		return
	}
	r := rand.New(rand.NewPCG(s.seed, 1))
	for i := range stepsPerScript / 8 {
		at, source, place := len(s.steps), r.IntN(len(sourceNames)-1), r.IntN(places)
		if i%2 == 0 {
			at = r.IntN(at + 1)
		}
		s.steps = slices.Insert(s.steps, at,
			step{do: add, source: source, place: place, n: r.IntN(4096), after: time.Duration(r.Int64N(int64(20 * time.Second)))},
			step{do: remove, source: source, place: place, after: time.Duration(r.Int64N(int64(3 * time.Second)))},
			step{do: again, source: source, place: place, after: pause(r)})
	}
}
