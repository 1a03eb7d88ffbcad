package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

// A pod is looked at anew only where its worker has done something since.
func TestOnlyWhatAWorkerHasDoneMakesWhatItSawOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.create(p)
		synctest.Wait()
		rec := b.pool.records["1"]
		for range 3 {
			time.Sleep(time.Second)
			b.pool.Update(Request{Kind: Sync, Pod: p})
			synctest.Wait()
		}
		if !rec.changed.IsZero() {
			t.Error("a worker that has done nothing wants to look again")
		}
		time.Sleep(time.Second)
		b.pool.Update(Request{Kind: Kill, Pod: p})
		synctest.Wait()
		if b.state("1") != Finished || rec.changed.IsZero() {
			t.Errorf("state %s, what it did last is from %s", b.state("1"), rec.changed)
		}
	})
}

func TestATurnThatFailedMakesWhatWasSeenOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.fail["setup web"] = errBroken
		b.create(p)
		synctest.Wait()
		if b.pool.records["1"].changed.IsZero() {
			t.Error("how far it came is not known, yet it would not look again")
		}
	})
}
