package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

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
		ending := b.pool.Ending()
		if len(ending) != 1 || ending[0].Pod != going || !ending[0].Since.Equal(begun) || ending[0].Grace != 30 {
			t.Errorf("ending = %+v, want going since %s with 30 s", ending, begun)
		}
		close(held)
		synctest.Wait()
		if ending := b.pool.Ending(); len(ending) != 0 {
			t.Errorf("ending = %+v after it ended", ending)
		}
	})
}

func TestGoneIsSaidOnceThePodIsLetGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var gone []types.UID
		b.pool.cfg.Gone = func(uid types.UID) { gone = append(gone, uid) }
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		if len(gone) != 0 {
			t.Errorf("gone = %v before the pod was unwanted", gone)
		}
		b.pool.Known(func(types.UID) bool { return false })
		if len(gone) != 1 || gone[0] != "1" {
			t.Errorf("gone = %v, want 1", gone)
		}
	})
}
