package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

func TestARejectionIsShownOnceItIsKept(t *testing.T) {
	t.Parallel()
	const slow, shown = 10 * time.Second, "Failed NodePorts: Pod was rejected: port 80 is taken"
	for name, tc := range map[string]struct {
		meanwhile func(w *world)
		want      string
	}{
		"while nothing happens":                  {func(*world) {}, shown},
		"also of what it has become":             {func(w *world) { w.send(change(api.UpdateOp, newPod("1"), nil)) }, shown},
		"not when it is gone":                    {func(w *world) { w.send(removed(newPod("1"))) }, ""},
		"not what it was when it has come again": {func(w *world) { w.send(removed(newPod("1"))); w.send(added(newPod("1"))) }, ""},
		"not when a worker speaks for it": {func(w *world) {
			w.set(func() { w.workers["1"] = worker.Terminating })
		}, ""},
		"not when policy has refused it since": {func(w *world) {
			w.send(change(api.UpdateOp, newPod("1"), verdict(api.Deny, "no")))
		}, "Failed Why: Pod was rejected: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("api")
				w.refusals["1"], w.slowDisk = portTaken, slow
				w.run(t, func() {
					w.send(added(newPod("1")), added(newPod("2")))
					w.expect(t, "create 2") // nobody waits for the disk
					w.expectStatus(t, "1", "")
					time.Sleep(slow / 2)
					tc.meanwhile(w)
					time.Sleep(slow/2 + time.Second)
					w.expectStatus(t, "1", tc.want)
				})
			})
		})
	}
}
