package pleg

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeRuntime runs pods in memory.
type fakeRuntime struct {
	mu         sync.Mutex
	pods       map[types.UID]status.ObservedPod
	listErr    error
	inspectErr map[types.UID]error
	// listGate makes each list wait until the channel is closed, and inspectGate each
	// inspection of a pod. There is no wait if the channel is nil.
	listGate    chan struct{}
	inspectGate map[types.UID]chan struct{}
	deaf        bool // lists and inspections ignore their context

	// watch implements WatchPods. If it is nil, the runtime has no events.
	watch func(ctx context.Context, opened func(), changed func(status.PodChange)) error

	lists       int
	inspections map[types.UID]int
	inFlight    map[types.UID]int
	most        int // the most inspections at one time
	twice       bool
}

func newFakeRuntime(pods ...status.ObservedPod) *fakeRuntime {
	f := &fakeRuntime{
		pods: map[types.UID]status.ObservedPod{}, inspectErr: map[types.UID]error{},
		inspectGate: map[types.UID]chan struct{}{},
		inspections: map[types.UID]int{}, inFlight: map[types.UID]int{},
	}
	for _, p := range pods {
		f.pods[p.UID] = p
	}
	return f
}

func (f *fakeRuntime) ListPods(ctx context.Context) ([]status.ObservedPod, error) {
	f.mu.Lock()
	f.lists++
	var out []status.ObservedPod
	for _, p := range f.pods {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b status.ObservedPod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	gate, err := f.listGate, f.listErr
	if f.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	f.mu.Unlock()
	return out, cmp.Or(pass(ctx, gate), err)
}

func (f *fakeRuntime) InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error) {
	f.mu.Lock()
	f.inspections[uid]++
	f.inFlight[uid]++
	f.twice = f.twice || f.inFlight[uid] > 1
	sum := 0
	for _, n := range f.inFlight {
		sum += n
	}
	f.most = max(f.most, sum)
	p, gate, err := f.pods[uid], f.inspectGate[uid], f.inspectErr[uid]
	if f.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	f.mu.Unlock()
	gateErr := pass(ctx, gate)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight[uid]--
	return p, cmp.Or(gateErr, err)
}

func (f *fakeRuntime) WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	f.mu.Lock()
	watch := f.watch
	f.mu.Unlock()
	if watch == nil {
		return status.ErrNoEvents
	}
	return watch(ctx, opened, changed)
}

func pass(ctx context.Context, gate chan struct{}) error {
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// change edits the fake under its lock.
func (f *fakeRuntime) change(edit func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit()
}

func (f *fakeRuntime) listed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lists
}

func (f *fakeRuntime) inspected(uid types.UID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inspections[uid]
}

// newPod returns a pod with containers of the form "<id>=<state>". With the prefix "sandbox:"
// it is a sandbox, which is ready if its state is running.
func newPod(uid types.UID, containers ...string) status.ObservedPod {
	p := status.ObservedPod{UID: uid, Name: string(uid), Namespace: "ns"}
	for _, c := range containers {
		id, state, _ := strings.Cut(c, "=")
		if id, ok := strings.CutPrefix(id, "sandbox:"); ok {
			p.Sandboxes = append(p.Sandboxes, status.ObservedSandbox{ID: id, Ready: state == "running"})
			continue
		}
		p.Containers = append(p.Containers, status.ObservedContainer{ID: id, State: status.ContainerState(state)})
	}
	return p
}

// bench is a generator under test, in a synctest bubble.
type bench struct {
	*Generator
	cache *Cache
	stop  func() // ends Run and waits for it
}

// start runs a generator on f until the test ends, and waits for its first list. cfg needs only
// the fields that the test is about.
func start(t *testing.T, f *fakeRuntime, cfg Config) *bench {
	t.Helper()
	cfg.Runtime, cfg.Cache, cfg.Now = f, NewCache(), time.Now
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	g := New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := g.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	b := &bench{Generator: g, cache: cfg.Cache, stop: func() { cancel(); wg.Wait() }}
	t.Cleanup(func() {
		b.stop()
		if f.twice {
			t.Error("a pod was inspected twice at once")
		}
	})
	synctest.Wait()
	return b
}

// settle waits until nothing more happens at the current time, after a tick for inspections
// that wait until the clock advances.
func (b *bench) settle() {
	time.Sleep(tick)
	synctest.Wait()
}

// tick is long enough for the clock to advance.
const tick = time.Microsecond

// told returns the events since the last call as "<type> <uid>/<container>", sorted.
func (b *bench) told() []string {
	b.settle()
	var out []string
	for {
		select {
		case e := <-b.Events():
			out = append(out, string(e.Type)+" "+string(e.UID)+"/"+e.ContainerID)
			continue
		default:
		}
		slices.Sort(out)
		return out
	}
}

// nextList waits for the next periodic list and its immediate effects.
func (b *bench) nextList() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// answer waits up to d for an observation newer than now. It returns "<containers>", an error,
// or "no answer".
func (b *bench) answer(uid types.UID, d time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	p, err := b.cache.GetNewerThan(ctx, uid, time.Now())
	synctest.Wait() // the other effects of the same list
	if ctx.Err() != nil {
		return "no answer"
	}
	if err != nil {
		return err.Error()
	}
	return shown(p)
}

func shown(p status.ObservedPod) string {
	var out []string
	for _, s := range p.Sandboxes {
		out = append(out, s.ID)
	}
	for _, c := range p.Containers {
		out = append(out, c.ID+"="+string(c.State))
	}
	return strings.Join(out, " ")
}

var errBroken = errors.New("broken")

// eventStream is a stream of events that the test controls.
type eventStream struct {
	changes chan status.PodChange
	breaks  chan error

	mu     sync.Mutex
	refuse error
	opens  []time.Time // the times of the calls of watch
}

func newEventStream(f *fakeRuntime) *eventStream {
	s := &eventStream{changes: make(chan status.PodChange), breaks: make(chan error)}
	f.watch = s.watch
	return s
}

func (s *eventStream) watch(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	s.mu.Lock()
	s.opens = append(s.opens, time.Now())
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	opened()
	for {
		select {
		case c := <-s.changes:
			changed(c)
		case err := <-s.breaks:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *eventStream) refuses(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// opened returns the times of the calls of watch, in whole seconds since begin.
func (s *eventStream) opened(begin time.Time) (seconds []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.opens {
		seconds = append(seconds, int(at.Sub(begin)/time.Second))
	}
	return seconds
}

// tell sends the event of a visible change.
func (s *eventStream) tell(uid types.UID) {
	s.changes <- status.PodChange{UID: uid, Kind: status.ChangeVisible, At: time.Now()}
}

// follow starts a generator on f and waits until it relies on the events of the returned
// stream. The generator's events so far are drained.
func follow(t *testing.T, f *fakeRuntime, cfg Config) (*bench, *eventStream) {
	t.Helper()
	s := newEventStream(f)
	b := start(t, f, cfg)
	time.Sleep(3 * time.Second)
	b.told()
	if !b.Streaming() {
		t.Fatal("after 3 s the events are not relied on")
	}
	return b, s
}

// wantLists checks the number of lists in the next period of length in.
func wantLists(t *testing.T, f *fakeRuntime, in time.Duration, want int) {
	t.Helper()
	before := f.listed()
	time.Sleep(in)
	synctest.Wait()
	if n := f.listed() - before; n != want {
		t.Errorf("%d lists in %s, want %d", n, in, want)
	}
}
