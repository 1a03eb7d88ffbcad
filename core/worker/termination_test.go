package worker

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// fakeTerminations records its calls. before has the terminations that an earlier agent began.
type fakeTerminations struct {
	mu     sync.Mutex
	before map[types.UID]Termination
	since  time.Time
	said   []string
}

func (e *fakeTerminations) say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, fmt.Sprintf(format, args...))
}

func (e *fakeTerminations) Begin(uid types.UID, _ time.Time, grace time.Duration) {
	e.say("begin %s %s", uid, grace)
}

func (e *fakeTerminations) Interrupted(uid types.UID) (Termination, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	end, ok := e.before[uid]
	end.Remaining -= time.Since(e.since)
	return end, ok
}

func (e *fakeTerminations) Finish(uid types.UID, goes bool) {
	e.mu.Lock()
	delete(e.before, uid)
	e.mu.Unlock()
	e.say("over %s %t", uid, goes)
}

func (e *fakeTerminations) Forget(uid types.UID) { e.say("forget %s", uid) }

func (e *fakeTerminations) taken() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := e.said
	e.said = nil
	return said
}

// withTerminations replaces the pool of b by one of an agent that starts with these
// terminations.
func withTerminations(b *bench, before map[types.UID]Termination) *fakeTerminations {
	book := &fakeTerminations{before: before, since: time.Now()}
	b.cfg.Terminations = book
	b.pool = New(b.cfg)
	return book
}

// runs adds a pod to the runtime whose container c runs in sandbox s.
func runs(b *bench, uid types.UID) {
	b.change(uid, func(o *status.ObservedPod) {
		o.Name, o.Namespace = "web", "default"
		o.Sandboxes = []status.ObservedSandbox{{ID: "s", Ready: true, IPs: []string{"10.0.0.9"}}}
		o.Containers = []status.ObservedContainer{{ID: "c", SandboxID: "s", Name: "a", State: status.StateRunning}}
	})
}

func TestAnEndGoesOnWithTheRestOfItsGracePeriodAfterARestart(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	create := func(b *bench) {
		b.pool.Submit(Request{Kind: Create, Pod: newPod("web", "1", "a"), Origin: api.Origin{FirstSeen: seen}})
	}
	kill := func(grace *int64) func(b *bench) {
		return func(b *bench) {
			create(b)
			b.pool.Submit(Request{Kind: Kill, Pod: newPod("web", "1", "a"), Kill: &KillOptions{Evict: true, Grace: grace}})
		}
	}
	stray := func(b *bench) { b.pool.KillOrphan(&b.pool.Orphans()[0]) }
	for name, tc := range map[string]struct {
		before map[types.UID]Termination
		then   func(b *bench)
		want   string
	}{
		"a pod that nobody wants any more":         {map[types.UID]Termination{"1": {seen, 43*time.Second + 700*time.Millisecond}}, stray, "stop c 43s"},
		"one whose time is over":                   {map[types.UID]Termination{"1": {seen, -time.Hour}}, stray, "stop c 1s"},
		"one that went while no agent ran":         {nil, stray, "stop c 1s"},
		"a pod that is ended anew":                 {map[types.UID]Termination{"1": {seen, 12 * time.Second}}, kill(nil), "stop c 12s"},
		"one whose time is over, ended anew":       {map[types.UID]Termination{"1": {seen, 0}}, kill(nil), "stop c 1s"},
		"one that has less by now":                 {map[types.UID]Termination{"1": {seen, 12 * time.Second}}, kill(new(int64(5))), "stop c 5s"},
		"never more than its own grace period":     {map[types.UID]Termination{"1": {seen, time.Hour}}, kill(nil), "stop c 30s"},
		"not the rest of another one that had it":  {map[types.UID]Termination{"1": {seen.Add(-1), 12 * time.Second}}, kill(nil), "stop c 30s"},
		"one that was never ended":                 {nil, kill(nil), "stop c 30s"},
		"one that goes away when it has been seen": {map[types.UID]Termination{"1": {seen, 12 * time.Second}}, func(b *bench) { create(b); b.pool.SyncKnownPods(wants()) }, "stop c 12s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				runs(b, "1")
				withTerminations(b, tc.before)
				tc.then(b)
				synctest.Wait()
				calls := b.taken()
				if i := slices.IndexFunc(calls, func(c string) bool { return strings.HasPrefix(c, "stop c") }); i < 0 || calls[i] != tc.want {
					t.Errorf("calls %q, want %q", calls, tc.want)
				}
			})
		})
	}
}

func TestAPodThatGoesOnAfterAnEndThatARestartCutHasItsGracePeriodAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		fail  string // a call that always fails
		want  string
	}{
		"not at once":                           {20 * time.Second, "", "stop c 1s"},
		"after a minute":                        {2 * time.Minute, "", "stop c 30s"},
		"also if it is not as it should be yet": {2 * time.Minute, "start web/b", "stop c 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.cfg.SyncFrequency = time.Hour
				runs(b, "1")
				book := withTerminations(b, map[types.UID]Termination{"1": {Remaining: 12 * time.Second}})
				p := newPod("web", "1", "a")
				if tc.fail != "" {
					p = newPod("web", "1", "a", "b")
					b.fail[tc.fail] = errBroken
				}
				b.create(p)
				for range int(tc.after / time.Second) {
					time.Sleep(time.Second)
					if len(b.pool.Due()) > 0 {
						b.sync(p)
					}
				}
				synctest.Wait()
				if said := book.taken(); tc.after > time.Minute != slices.Contains(said, "over 1 false") {
					t.Errorf("said %q", said)
				}
				b.taken()
				b.pool.Submit(Request{Kind: Kill, Pod: p})
				synctest.Wait()
				if calls := b.taken(); calls[0] != tc.want {
					t.Errorf("calls %q, want %q first", calls, tc.want)
				}
			})
		})
	}
}

func TestAnEndIsKeptBeforeContainersAreStoppedAndUntilItIsOver(t *testing.T) {
	t.Parallel()
	p := newPod("web", "1", "a")
	for name, tc := range map[string]struct {
		kill *KillOptions
		want []string
	}{
		"of a pod that is to go":                  {nil, []string{"begin 1 30s", "over 1 true"}},
		"of one that is to stay":                  {&KillOptions{Evict: true, Grace: new(int64(7))}, []string{"begin 1 7s", "over 1 false"}},
		"of one that runs again after a shutdown": {&KillOptions{NodeShutdown: true, Grace: new(int64(7))}, []string{"begin 1 7s", "over 1 false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				runs(b, "1")
				book := withTerminations(b, nil)
				held := make(chan struct{})
				b.hold["stop c"] = held
				b.create(p)
				synctest.Wait()
				if said := book.taken(); !slices.Equal(said, []string{"forget 1"}) {
					t.Errorf("when it began: %q", said)
				}
				b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: tc.kill})
				synctest.Wait()
				if said := book.taken(); !slices.Equal(said, tc.want[:1]) {
					t.Errorf("while it ends: %q", said)
				}
				close(held)
				synctest.Wait()
				if said := book.taken(); !slices.Equal(said, tc.want[1:]) {
					t.Errorf("when it has ended: %q", said)
				}
			})
		})
	}
}

func TestWhatEndedByItselfCostsNoWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		runs(b, "1")
		book := withTerminations(b, nil)
		p := newPod("web", "1", "a")
		p.Spec.RestartPolicy = "Never"
		b.create(p)
		synctest.Wait()
		book.taken()
		b.exit("c", 0)
		b.sync(p)
		synctest.Wait()
		if said := book.taken(); !slices.Equal(said, []string{"over 1 false"}) {
			t.Errorf("said %q", said)
		}
	})
}

func TestWhatAnEarlierAgentWasEndingIsOfAnotherPodThanOneSeenSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, seen := newBench(t), time.Now()
		if b.pool.RunsEarlierPod("1", seen) {
			t.Error("nothing is kept")
		}
		withTerminations(b, map[types.UID]Termination{"1": {FirstSeen: seen}})
		for _, tc := range []struct {
			uid  types.UID
			seen time.Time
			want bool
		}{{"1", seen.Round(0), false}, {"1", seen.Add(1), true}, {"2", seen, false}} {
			if got := b.pool.RunsEarlierPod(tc.uid, tc.seen); got != tc.want {
				t.Errorf("%s seen at %s: %t", tc.uid, tc.seen, got)
			}
		}
	})
}

func TestEndingListsThePodsBeingEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		going, staying := newPod("going", "1", "a"), newPod("staying", "2", "a")
		b.create(going)
		b.create(staying)
		synctest.Wait()
		held := make(chan struct{})
		b.hold["stop "] = held
		begun := time.Now()
		b.kill(going)
		synctest.Wait()
		time.Sleep(time.Second)
		ending := b.pool.TerminatingPods()
		if len(ending) != 1 || ending[0].Pod != going || !ending[0].Since.Equal(begun) || ending[0].Grace != 30 {
			t.Errorf("ending = %+v, want going since %s with 30 s", ending, begun)
		}
		close(held)
		synctest.Wait()
		if ending := b.pool.TerminatingPods(); len(ending) != 0 {
			t.Errorf("ending = %+v after it ended", ending)
		}
	})
}

func TestGoneIsSaidOnceThePodIsLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var gone []types.UID
		b.pool.cfg.OnRemoved = func(uid types.UID) { gone = append(gone, uid) }
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		if len(gone) != 0 {
			t.Errorf("gone = %v before the pod was unwanted", gone)
		}
		b.pool.SyncKnownPods(func(types.UID) bool { return false })
		if len(gone) != 1 || gone[0] != "1" {
			t.Errorf("gone = %v, want 1", gone)
		}
	})
}
