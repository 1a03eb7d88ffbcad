package pleg

import (
	"context"
	"errors"
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
		want string // for newer than second 5
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
		c.Set(newPod("u"), start) // not new enough: they wait again
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
