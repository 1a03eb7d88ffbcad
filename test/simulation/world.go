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

// world is everything that exists whether or not an agent runs.
type world struct {
	seed  uint64
	set   settings
	clock clock
	disk  *disk
	// late tracks what the runtime still does after the call for it has returned.
	late sync.WaitGroup

	// mu guards all fields below. It is never held while anything waits.
	mu sync.Mutex
	// drawn is how many numbers were drawn for each purpose.
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
	// violations are the violations found so far.
	violations []violation
}

// violation is a state or an action that must not occur.
type violation struct {
	// kind is the format of the text, without the pods and containers that the text names.
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

// draw returns a number that depends only on the seed, on its purpose, and on how often a
// number was drawn for that purpose. mu is held.
func (w *world) draw(what string) uint64 {
	n := w.drawn[what]
	w.drawn[what]++
	return mix(w.seed, what, n)
}

// between draws a time from least to most. mu is held.
func (w *world) between(what string, least, most time.Duration) time.Duration {
	return least + time.Duration(w.draw(what)%uint64(most-least+1))
}

// mix returns a hash of all its arguments.
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

// violated records a violation. mu is held.
func (w *world) violated(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("VIOLATION: %s", text)
	w.violations = append(w.violations, violation{format, text})
}

// note adds a line to the trace if tracing is on. mu is held.
func (w *world) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(w.trace, fmt.Sprintf("%10.4f ", time.Since(w.clock.start).Seconds())+fmt.Sprintf(format, args...))
	}
}

// first returns the first violation, nil for none.
func (w *world) first() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.violations) == 0 {
		return nil
	}
	return w.violations[0]
}

// clock is the node's clock. Its wall clock may be set. Its monotonic readings are not affected.
type clock struct {
	start time.Time
	// shift is by how many seconds the wall clock is wrong.
	shift atomic.Int64
}

// timeParts has the layout of time.Time, because the package time cannot set
// one reading without the other. TestTheWallClockJumpsAndDurationsDoNot checks
// the layout.
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
	// from1885 is the number of seconds from the beginning of 1885 to that of 1970.
	from1885 = 2682288000
)

// now returns the time with a monotonic reading, which time.Now lacks in a bubble.
func (c *clock) now() time.Time {
	t := time.Now()
	p := timeParts{
		wall: hasMonotonic | uint64(t.Unix()+c.shift.Load()+from1885)<<nanosecondBits | uint64(t.Nanosecond()),
		ext:  int64(t.Sub(c.start)) + 1,
	}
	return *(*time.Time)(unsafe.Pointer(&p))
}

// wall returns the time of the wall clock, as a container runtime reports it.
func (c *clock) wall() time.Time { return c.now().Round(0) }

// jump sets the wall clock.
func (c *clock) jump(by time.Duration) { c.shift.Add(int64(by / time.Second)) }

// life records that a pod came back, as far as one life of the agent has seen this.
type life struct {
	// erased is the life of the agent in which the pod's document was last removed, nil for none.
	erased *link
	// by is the life of the agent that saw the document go and come back. since is the
	// number of the pod's lapses at that time. begun is the number of lapses of the newest
	// version of which a container has begun to run.
	by           *link
	since, begun int
}

// returns records that a document of a source stands for a pod that had gone. An agent
// that saw the pod go must run the pod anew. mu is held.
func (w *world) returns(s *source, p *v1.Pod) {
	l := &w.subject(p.UID).life
	if l.erased != nil && l.erased == w.agent && s.pods != nil && !s.pods[p.UID] {
		l.by, l.since = w.agent, lapsesOf(p)
	}
}

// stillborn says what is wrong with a pod of which nothing has run since the pod came back,
// empty for nothing. It ignores pods whose documents contend for a UID or a
// name: other tests check those. mu is held.
func (w *world) stillborn(a *agent, p *v1.Pod) string {
	sub := w.subject(p.UID)
	l := &sub.life
	if l.by != a.link || l.begun >= l.since || sub.contested {
		return ""
	}
	st := a.status(p.UID)
	return fmt.Sprintf("it has come back and not run since; the status says %s %q", st.Phase, st.Reason)
}

// awayAndBack adds steps to a script: documents go and soon come back unchanged. Most of
// these steps are at the end of the script, because later steps would hide the result.
// Only some seeds have these steps, so that the scripts of other seeds stay the same.
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
