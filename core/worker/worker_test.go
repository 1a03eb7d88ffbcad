package worker

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
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

func TestAPodIsLookedAtEveryMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		time.Sleep(b.cfg.SyncFrequency - time.Second)
		if got := b.pool.Due(); len(got) != 0 {
			t.Errorf("due too early: %v", got)
		}
		time.Sleep(2 * time.Second)
		if got := b.pool.Due(); len(got) != 1 {
			t.Errorf("due = %v, want the pod", got)
		}
	})
}

func TestHowOftenAPodIsLookedAtMayChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		due := func(step string, want int) {
			t.Helper()
			if got := b.pool.Due(); len(got) != want {
				t.Errorf("%s: due = %v, want %d", step, got, want)
			}
		}
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		b.pool.SetSyncFrequency(time.Hour)
		time.Sleep(b.cfg.SyncFrequency + time.Second)
		due("it waits no longer than before", 1)
		b.pool.Submit(Request{Kind: Sync, Pod: newPod("web", "1", "a")})
		synctest.Wait()
		time.Sleep(50 * time.Minute)
		due("it waits for the new time", 0)
		b.pool.SetSyncFrequency(10 * time.Second)
		time.Sleep(9 * time.Second)
		due("it waits a little", 0)
		time.Sleep(2 * time.Second)
		due("it does not wait for the time before", 1)
	})
}

func TestStopLetsACallFinishAndBeginsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.hold["run-sandbox"] = held
		p := newPod("web", "1", "a")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0")
		time.AfterFunc(3*time.Second, func() { close(held) })
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("Stop took %s, want the 3s of the call", took)
		}
		if len(b.pods["1"].Sandboxes) != 1 {
			t.Error("the call in flight was given up")
		}
		expectCalls(t, b)
		if b.recorded("web FailedCreatePodSandBox") || b.recorded("web FailedSync") {
			t.Error("stopping is reported as a failure of the pod")
		}
	})
}

func TestStopLeavesTheSandboxOfAContainerThatStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.hold["stop c2"] = held
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		b.taken()
		time.AfterFunc(3*time.Second, func() { close(held) })
		b.pool.Stop(t.Context())
		if got := b.newest("1", "a").State; got != status.StateExited {
			t.Errorf("the container is %s, want exited: the call could finish", got)
		}
		expectCalls(t, b)
	})
}

func TestStopGivesUpCallsAfterTenSeconds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ limit, want time.Duration }{
		"of its own":               {time.Hour, 10 * time.Second},
		"or when its context ends": {4 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.hold["stop c2"] = make(chan struct{})
				p := newPod("web", "1", "a")
				b.create(p)
				synctest.Wait()
				b.kill(p)
				synctest.Wait()
				b.taken()
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				begun := time.Now()
				b.pool.Stop(ctx)
				if took := time.Since(begun); took != tc.want {
					t.Errorf("Stop took %s, want %s", took, tc.want)
				}
				expectCalls(t, b) // in particular, no sandbox is stopped
			})
		})
	}
}

// deafRuntime ignores the context of StopContainer and returns when held is closed.
type deafRuntime struct {
	*node
	held chan struct{}
}

func (r deafRuntime) StopContainer(context.Context, string, time.Duration) error {
	<-r.held
	return nil
}

func TestStopLeavesCallsBehindThatIgnoreThatTheyAreToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		defer close(held) // otherwise the worker would leak
		var log bytes.Buffer
		b.cfg.Runtime, b.cfg.Log = deafRuntime{b.node, held}, slog.New(slog.NewTextHandler(&log, nil))
		b.pool = New(b.cfg)
		p := newPod("web", "1", "a")
		b.create(p)
		b.create(newPod("other", "2", "a"))
		synctest.Wait()
		b.kill(p)
		b.pool.KillOrphan(orphan(b, "c0"))
		synctest.Wait()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != stopTimeout+cancelTimeout {
			t.Errorf("Stop took %s, want %s", took, stopTimeout+cancelTimeout)
		}
		if want := `pods="[9 default/web]"`; !strings.Contains(log.String(), want) {
			t.Errorf("log:\n%swant %s", &log, want)
		}
	})
}

func TestStopLeavesEveryPodRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 0 {
			t.Errorf("Stop took %s with nothing in flight", took)
		}
		b.kill(p)
		b.create(newPod("late", "2", "a"))
		if got := b.pool.SyncKnownPods(wants()); got != nil {
			t.Errorf("a stopped pool still has workers: %v", got)
		}
		expectCalls(t, b)
		if got := b.newest("1", "a").State; got != status.StateRunning {
			t.Errorf("the container is %s, want running", got)
		}
	})
}

func TestStopDoesNotWaitForObservations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Cache = lateCache{b.node, make(chan struct{})}
		b.pool = New(b.cfg)
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 0 {
			t.Errorf("Stop took %s, want no time", took)
		}
	})
}

// TestHammer sends random requests from several goroutines, and then wants no pod any more.
// Finally, no container may run and no record may be left.
func TestHammer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var wg sync.WaitGroup
			for g := range uint64(4) {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(seed, g))
					for range 100 {
						n := random.IntN(6)
						p := newPod(fmt.Sprint("web-", n/2), types.UID(strconv.Itoa(n)), "a", "b")
						if n%3 == 0 {
							p = fromAPI(p)
						}
						switch kind := Kind(random.IntN(6)); kind {
						case Create, Update, Sync, Kill:
							b.pool.Submit(Request{Kind: kind, Pod: p})
						default:
							b.pool.SyncKnownPods(func(uid types.UID) bool { return uid != p.UID })
						}
						time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
					}
				})
			}
			wg.Wait()
			for range 10 {
				b.pool.SyncKnownPods(wants())
				synctest.Wait()
			}
			if left := b.pool.SyncKnownPods(wants()); len(left) != 0 {
				t.Errorf("seed %d: workers are left: %v", seed, left)
			}
			for uid, o := range b.pods {
				for _, c := range o.Containers {
					if c.State == status.StateRunning {
						t.Errorf("seed %d: container %s of pod %s runs on", seed, c.Name, uid)
					}
				}
			}
			if g := b.pool.names; len(g.holders)+len(g.waiting) != 0 {
				t.Errorf("seed %d: the queue keeps %+v", seed, g)
			}
		})
	}
}
