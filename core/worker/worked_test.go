package worker

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/status"
)

// turns are those that a pool has told of.
type turns struct {
	mu   sync.Mutex
	told []string
}

func (o *turns) Worked(operation string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, fmt.Sprint(operation, " ", took))
}

// expect waits until the pool is at rest and compares what was told since the last
// time.
func (o *turns) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(want, o.told, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: turns (-want +got):\n%s", when, diff)
	}
	o.told = nil
}

// observed is a bench whose pool tells of its turns.
func observed(t *testing.T) (*bench, *turns) {
	t.Helper()
	b, o := newBench(t), &turns{}
	b.cfg.Observer = o
	b.pool.Stop(t.Context())
	b.pool = New(b.cfg)
	t.Cleanup(func() { b.pool.Stop(t.Context()) })
	return b, o
}

func TestEveryTurnIsToldByWhatItDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, o := observed(t)
		p := newPod("web", "1", "a")
		b.create(p)
		o.expect(t, "a new pod", "create 0s")
		b.sync(p)
		o.expect(t, "the same version again", "sync 0s")
		newer := p.DeepCopy()
		newer.Labels = map[string]string{"a": "b"}
		b.update(newer)
		o.expect(t, "another version", "update 0s")
		b.kill(newer)
		o.expect(t, "its end", "kill 0s", "terminated 0s")
		b.sync(newer)
		o.expect(t, "a pod that has ended")

		b.pool.Known(wants("1"))
		b.change("2", func(is *status.ObservedPod) { _, running := good(); *is = *running; is.UID = "2" })
		b.pool.Update(Request{Kind: Kill, Observed: b.pods["2"]})
		o.expect(t, "a pod that nobody knows", "kill 0s")
	})
}

func TestATurnIsTimedUntilItEndsWellOrNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, o := observed(t)
		pulled := make(chan struct{})
		b.hold["start web/a"] = pulled
		b.fail["start web/a"] = errors.New("no")
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		time.Sleep(7 * time.Second)
		o.expect(t, "while it goes on")
		close(pulled)
		o.expect(t, "it has failed", "create 7s")
		b.sync(p)
		o.expect(t, "the next try", "sync 0s")
	})
}
