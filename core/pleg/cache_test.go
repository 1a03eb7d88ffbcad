package pleg

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestGetNeverBlocks(t *testing.T) {
	t.Parallel()
	c := NewCache()
	if p, err := c.Get("u"); err != nil || p.UID != "u" || len(p.Containers) > 0 {
		t.Errorf("unknown pod: %+v, %v, want the UID alone", p, err)
	}
	c.Set(newPod("u", "a=running"), time.Now())
	if p, err := c.Get("u"); err != nil || shown(p) != "a=running" {
		t.Errorf("known pod: %s, %v", shown(p), err)
	}
	broken := errors.New("broken")
	c.SetError("u", broken, time.Now())
	if p, err := c.Get("u"); !errors.Is(err, broken) || shown(p) != "a=running" {
		t.Errorf("after a failure: %s, %v, want the last good one and the error", shown(p), err)
	}
	c.Delete("u")
	if p, err := c.Get("u"); err != nil || shown(p) != "" {
		t.Errorf("deleted pod: %s, %v", shown(p), err)
	}
}

func TestGetNewerThan(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return base.Add(time.Duration(s) * time.Second) }
	listed := []status.ObservedPod{newPod("u", "a=running")}
	const unanswered = "no answer"
	tests := []struct {
		name string
		do   func(c *Cache)
		want string // for a question about newer than second 5
	}{
		{"nothing known", func(*Cache) {}, unanswered},
		{"inspected later", func(c *Cache) { c.Set(newPod("u", "a=running"), at(6)) }, "a=running"},
		{"inspected at that very time", func(c *Cache) { c.Set(newPod("u", "a=running"), at(5)) }, unanswered},
		{"inspected before", func(c *Cache) { c.Set(newPod("u", "a=running"), at(4)) }, unanswered},
		{"inspected before, unchanged later", func(c *Cache) {
			c.Set(newPod("u", "a=running"), at(4))
			c.SetObserved("u", at(6))
		}, "a=running"},
		{"an older observation takes nothing back", func(c *Cache) {
			c.Set(newPod("u", "a=running"), at(6))
			c.SetObserved("u", at(4))
		}, "a=running"},
		{"observed but never inspected", func(c *Cache) { c.SetObserved("u", at(6)) }, unanswered},
		{"inspection failed later", func(c *Cache) {
			c.Set(newPod("u", "a=running"), at(4))
			c.SetError("u", errors.New("broken"), at(6))
		}, "broken"},
		{"not in a later list", func(c *Cache) { c.SetList(nil, at(6)) }, ""},
		{"not in an earlier list", func(c *Cache) { c.SetList(nil, at(5)) }, unanswered},
		{"in a later list, not inspected yet", func(c *Cache) { c.SetList(listed, at(6)) }, unanswered},
		{"in a later list, inspected only before", func(c *Cache) {
			c.Set(newPod("u"), at(4))
			c.SetList(listed, at(6))
		}, unanswered},
		{"deleted, not in a later list", func(c *Cache) {
			c.Set(newPod("u", "a=running"), at(4))
			c.Delete("u")
			c.SetList(nil, at(6))
		}, ""},
		{"news of another pod", func(c *Cache) { c.Set(newPod("v", "b=running"), at(6)) }, unanswered},
	}
	for _, tt := range tests {
		for _, order := range []string{"at once", "while waiting"} {
			t.Run(tt.name+", "+order, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := NewCache()
					if order == "at once" {
						tt.do(c)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					got := make(chan string, 1)
					go func() {
						p, err := c.GetNewerThan(ctx, "u", at(5))
						switch {
						case errors.Is(err, context.DeadlineExceeded):
							got <- unanswered
						case err != nil:
							got <- err.Error()
						default:
							got <- shown(p)
						}
					}()
					synctest.Wait()
					if order != "at once" {
						tt.do(c)
						synctest.Wait()
					}
					if answered := len(got) == 1; answered != (tt.want != unanswered) {
						t.Errorf("answered = %v, want %q", answered, tt.want)
					}
					if s := <-got; s != tt.want {
						t.Errorf("answer = %q, want %q", s, tt.want)
					}
				})
			})
		}
	}
}

func TestEveryWaiterIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewCache()
		start := time.Now()
		const waiters = 5
		done := make(chan types.UID, waiters)
		for range waiters {
			go func() {
				p, err := c.GetNewerThan(t.Context(), "u", start)
				if err != nil {
					t.Error(err)
				}
				done <- p.UID
			}()
		}
		synctest.Wait()
		c.Set(newPod("u"), start) // not new enough, so the waiters wait again
		synctest.Wait()
		if len(done) != 0 {
			t.Fatalf("%d waiters were answered too early", len(done))
		}
		c.Set(newPod("u"), start.Add(1))
		for range waiters {
			<-done
		}
	})
}

func TestPodsIsTheLastList(t *testing.T) {
	t.Parallel()
	c := NewCache()
	if pods, at := c.Pods(); pods != nil || !at.IsZero() {
		t.Errorf("before the first list: %v at %s", pods, at)
	}
	now := time.Now()
	c.SetList([]status.ObservedPod{newPod("u"), newPod("v")}, now)
	if pods, at := c.Pods(); len(pods) != 2 || !at.Equal(now) {
		t.Errorf("%d pods at %s, want 2 at %s", len(pods), at, now)
	}
}

// TestWaitingReaderDoesNotWaitForTheList checks that no reader waits for the list, which comes
// once a minute while events are followed.
func TestWaitingReaderDoesNotWaitForTheList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(t *testing.T, f *fakeRuntime, b *bench)
		ask  func(b *bench) // nil: only the reader asks
		want string
	}{
		{"a pod that is known", nil, nil, "a=running"},
		{"a pod that has changed without an event", func(_ *testing.T, f *fakeRuntime, _ *bench) {
			f.change(func() { f.pods["p"] = newPod("p", "a=exited") })
		}, nil, "a=exited"},
		{"a pod of which there is no record", func(t *testing.T, f *fakeRuntime, b *bench) {
			t.Helper()
			f.change(func() { delete(f.pods, "p") })
			if err := b.Relist(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.change(func() { f.pods["p"] = newPod("p", "b=running") })
		}, nil, "b=running"},
		{"a pod that has neither sandbox nor containers", func(_ *testing.T, f *fakeRuntime, _ *bench) {
			f.change(func() { delete(f.pods, "p") })
		}, nil, ""},
		{"an inspection that is asked for as well", nil, func(b *bench) { b.Refresh("p") }, "a=running"},
		{"200 other requests", nil, func(b *bench) {
			for i := range 200 {
				b.Refresh(types.UID(fmt.Sprintf("other%d", i)))
			}
			b.Refresh("p")
		}, "a=running"},
		{"a list that hangs", func(t *testing.T, f *fakeRuntime, b *bench) {
			t.Helper()
			gate := make(chan struct{})
			f.change(func() { f.listGate = gate })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			go func() {
				defer cancel()
				_ = b.Relist(ctx)
			}()
			t.Cleanup(cancel)
			synctest.Wait()
		}, nil, "a=running"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "a=running"))
				b, _ := follow(t, f, Config{})
				if tt.do != nil {
					tt.do(t, f, b)
				}
				asked, before := time.Now(), f.inspected("p")
				if tt.ask != nil {
					tt.ask(b)
				}
				p, err := b.cache.GetNewerThan(t.Context(), "p", asked)
				if err != nil || shown(p) != tt.want {
					t.Errorf("answer %q, %v, want %q", shown(p), err, tt.want)
				}
				if waited := time.Since(asked); waited > tick {
					t.Errorf("waited %s", waited)
				}
				if n := f.inspected("p") - before; n != 1 {
					t.Errorf("inspected %d times, want 1", n)
				}
				b.stop()
			})
		})
	}
}

// TestReaderDuringAnInspectionGetsTheNextOne checks that neither an inspection nor a list that
// began before a question answers it.
func TestReaderDuringAnInspectionGetsTheNextOne(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{false, true} {
		t.Run(fmt.Sprintf("with a list between: %v", listed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "a=running"))
				b, s := follow(t, f, Config{})
				gate := make(chan struct{})
				f.change(func() { f.inspectGate["p"] = gate })
				s.tell("p")
				time.Sleep(time.Millisecond)
				asked := time.Now()
				got := make(chan string, 1)
				go func() {
					p, err := b.cache.GetNewerThan(t.Context(), "p", asked)
					got <- fmt.Sprint(shown(p), err)
				}()
				time.Sleep(time.Millisecond)
				if listed {
					f.change(func() { delete(f.pods, "p") }) // the next list does not have it
					if err := b.Relist(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				f.change(func() { f.inspectGate["p"] = nil; f.pods["p"] = newPod("p", "a=exited") })
				begun := time.Now()
				close(gate)
				if answer := <-got; answer != "a=exited<nil>" && (!listed || answer != "<nil>") {
					t.Errorf("answered %q", answer)
				}
				if waited := time.Since(begun); waited > tick {
					t.Errorf("waited %s", waited)
				}
			})
		})
	}
}

// TestRequestOlderThanTheLastList checks that a request is dropped only if the cache has a
// newer answer.
func TestRequestOlderThanTheLastList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"), newPod("hung", "h=running"))
		b, s := follow(t, f, Config{})
		gate := make(chan struct{})
		f.change(func() { f.inspectGate["hung"] = gate })
		s.tell("hung")
		synctest.Wait()
		asked := time.Now()
		time.Sleep(time.Second)
		if err := b.Relist(t.Context()); err != nil { // the list has p, unchanged
			t.Fatal(err)
		}
		p, hung := f.inspected("p"), f.inspected("hung")
		b.requests.request("p", asked)
		b.requests.request("hung", asked)
		b.settle()
		if n := f.inspected("p") - p; n != 0 {
			t.Errorf("a pod that a newer list shows unchanged is inspected %d times", n)
		}
		close(gate)
		b.settle()
		if n := f.inspected("hung") - hung; n > 1 {
			t.Errorf("the other one is inspected %d times more", n)
		}
		got, err := b.cache.GetNewerThan(t.Context(), "hung", asked)
		if err != nil || shown(got) != "h=running" || time.Since(asked) > 2*time.Second {
			t.Errorf("answer %q, %v after %s", shown(got), err, time.Since(asked))
		}
	})
}

func TestPodsHaveWhatWasSeenSinceTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("ends", "a=running"), newPod("goes", "b=running"), newPod("stays", "c=running"))
		b, s := follow(t, f, Config{})
		_, listed := b.cache.Pods()
		f.change(func() {
			f.pods["ends"] = newPod("ends", "a=exited")
			f.pods["starts"] = newPod("starts", "d=running")
			delete(f.pods, "goes")
		})
		for _, uid := range []types.UID{"ends", "starts", "goes", "never"} {
			s.tell(uid)
		}
		time.Sleep(time.Second)
		b.told()
		pods, at := b.cache.Pods()
		var got []string
		for _, p := range pods {
			got = append(got, string(p.UID)+" "+shown(p))
		}
		if want := "[starts d=running ends a=exited stays c=running]"; fmt.Sprint(got) != want || !at.Equal(listed) {
			t.Errorf("pods are %v at %s, want %s at %s", got, at, want, listed)
		}
		if again, _ := b.cache.Pods(); &again[0] != &pods[0] {
			t.Error("asked again, with no news, they are put together again")
		}
	})
}

func TestThereAreNoPodsBeforeTheFirstList(t *testing.T) {
	t.Parallel()
	c := NewCache()
	c.Set(newPod("p", "a=running"), time.Now())
	if pods, at := c.Pods(); pods != nil || !at.IsZero() {
		t.Errorf("%d pods at %s", len(pods), at)
	}
}

func TestListOverridesWhatWasSeenBefore(t *testing.T) {
	t.Parallel()
	c, now := NewCache(), time.Now()
	c.Set(newPod("p", "a=running"), now)
	c.SetList([]status.ObservedPod{newPod("p", "a=exited")}, now.Add(1))
	if pods, _ := c.Pods(); len(pods) != 1 || shown(pods[0]) != "a=exited" {
		t.Errorf("pods are %v", pods)
	}
}
