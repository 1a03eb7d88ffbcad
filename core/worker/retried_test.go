package worker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// housekeep does for a while what a sync loop does that has none of the pods in
// its set: it takes those that are due and asks nothing of them.
func (b *bench) housekeep(d time.Duration, wanted func(types.UID) bool) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		b.pool.Due()
		synctest.Wait()
		time.Sleep(time.Second)
		b.pool.Due()
		b.pool.Known(wanted)
		synctest.Wait()
	}
}

// stray is a pod that runs for nobody.
func stray(b *bench, containers ...string) *Stray {
	b.change("9", func(o *status.ObservedPod) {
		o.Name, o.Namespace = "stray", "default"
		o.Sandboxes = []status.ObservedSandbox{{ID: "s0", Ready: true}}
		for _, id := range containers {
			o.Containers = append(o.Containers, status.ObservedContainer{ID: id, Name: id, State: status.StateRunning})
		}
	})
	return &b.pool.Strays()[0]
}

func TestEndThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		call string
		end  func(*bench) types.UID
	}{
		"of a pod that was removed, in its containers": {"stop ", removed},
		"of a pod that was removed, in its volumes":    {"teardown ", removed},
		"of a pod that runs for nobody": {"stop ", func(b *bench) types.UID {
			b.pool.KillStray(stray(b, "c0"))
			return "9"
		}},
	}
	for name, tc := range ends {
		for held, wanted := range map[string]bool{
			"": false, ", while a document with its UID is held": true,
		} {
			t.Run(name+held, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					b.fail[tc.call] = status.ErrAway
					uid := tc.end(b)
					synctest.Wait()
					if b.state(uid) == Syncing || b.state(uid) == Finished {
						t.Fatalf("it is %s, want one that has failed to end", b.state(uid))
					}
					delete(b.fail, tc.call)
					b.housekeep(10*time.Second, func(types.UID) bool { return wanted })
					if s := b.state(uid); s != 0 && s != Finished {
						t.Errorf("after 10 s it is %s still", s)
					}
				})
			})
		}
	}
}

// removed is a pod that ran and that its source has taken away.
func removed(b *bench) types.UID {
	p := newPod("web", "1", "a")
	b.create(p)
	synctest.Wait()
	b.kill(p)
	return p.UID
}

func TestEndThatGoesOnFailingIsTriedAsOftenAsItsBackOffSays(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]bool{"where its time is taken": true, "where nobody takes its time": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail["stop "] = errBroken
				removed(b)
				synctest.Wait()
				b.taken()
				for range 60 {
					time.Sleep(2 * time.Second)
					if due {
						b.pool.Due()
					}
					b.pool.Known(wants("1"))
					synctest.Wait()
				}
				stops := 0
				for _, call := range b.taken() {
					if strings.HasPrefix(call, "stop ") {
						stops++
					}
				}
				if stops < 9 || stops > 12 {
					t.Errorf("tried %d times in 2 min, want about every 10 s", stops)
				}
			})
		})
	}
}

func TestOrphanThatRunsMoreThanWhenItWasFoundIsEnded(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]string{
		"at the next try":                        "",
		"also when what it was found with fails": "stop c0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if fail != "" {
					b.fail[fail] = errBroken
				}
				found := stray(b, "c0")
				// The runtime still carries out what an earlier agent has asked for.
				b.change("9", func(o *status.ObservedPod) {
					o.Sandboxes = append([]status.ObservedSandbox{{ID: "s1", Attempt: 1, Ready: true}}, o.Sandboxes...)
					o.Containers = append([]status.ObservedContainer{{ID: "c1", Name: "a", State: status.StateRunning}}, o.Containers...)
				})
				b.pool.KillStray(found)
				b.housekeep(10*time.Second, wants())
				if got := b.newest("9", "a").State; got != status.StateExited {
					t.Errorf("what came after it was found is %s, want exited", got)
				}
				if fail == "" && b.state("9") != 0 {
					t.Errorf("it is %s still", b.state("9"))
				}
			})
		})
	}
}

func TestOrphanThatCannotBeInspectedIsStoppedAsItWasFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		found := stray(b, "c0", "c1")
		b.fail["stop c1"] = errBroken
		b.pool.KillStray(found)
		synctest.Wait()
		delete(b.fail, "stop c1")
		b.blind = true
		b.housekeep(10*time.Second, wants())
		if got := b.newest("9", "c1").State; got != status.StateExited {
			t.Errorf("a container of it is %s, want exited", got)
		}
		b.blind = false
		b.housekeep(10*time.Second, wants())
		if b.state("9") != 0 {
			t.Errorf("it is %s still, although it can be seen that it has ended", b.state("9"))
		}
	})
}
