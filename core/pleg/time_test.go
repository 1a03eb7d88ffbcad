package pleg

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// TestNothingButAListMovesTheTimeOfAll is what kubernetes issue 121349 is about:
// a waiter that takes an old status for a new one starts containers twice.
func TestNothingButAListMovesTheTimeOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=exited"), newPod("other", "o=running"))
		b, s := follow(t, f, Config{InspectTimeout: time.Hour})
		gate := make(chan struct{})
		_, listed := b.cache.Pods()
		asked := time.Now()
		f.change(func() {
			f.pods["p"] = newPod("p", "a=exited", "b=running")
			f.pods["new"] = newPod("new", "c=running")
			f.inspectGate["p"], f.inspectGate["new"] = gate, gate
		})
		known, unknown := make(chan string, 1), make(chan string, 1)
		read := func(uid types.UID, answer chan<- string) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			p, err := b.cache.GetNewerThan(ctx, uid, asked)
			answer <- fmt.Sprint(shown(p), err)
		}
		go read("p", known)
		go read("new", unknown)
		for range 55 { // seconds, in which other pods change
			f.change(func() { f.pods["other"] = newPod("other", fmt.Sprintf("o%d=running", time.Now().Unix())) })
			s.tell("other")
			s.tell("p")
			time.Sleep(time.Second)
		}
		if _, at := b.cache.Pods(); !at.Equal(listed) {
			t.Error("the time of all has moved without a list")
		}
		if len(known)+len(unknown) > 0 {
			t.Fatalf("answered from before: %d, %d", len(known), len(unknown))
		}
		time.Sleep(20 * time.Second) // a list comes, and shows both
		if _, at := b.cache.Pods(); at.Equal(listed) {
			t.Error("no list has come")
		}
		if len(known)+len(unknown) > 0 {
			t.Fatalf("answered from a list that showed that they had changed: %d, %d", len(known), len(unknown))
		}
		close(gate)
		if a, b := <-known, <-unknown; a != "a=exited b=running<nil>" || b != "c=running<nil>" {
			t.Errorf("answered %s and %s", a, b)
		}
	})
}
