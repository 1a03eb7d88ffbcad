package worker

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// TestHammer asks for everything at once, from everywhere, and in the end for
// nothing: whatever came before, nothing may run on or be remembered.
func TestHammer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			var wg sync.WaitGroup
			for g := range uint64(4) {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(seed, g)) //nolint:gosec // repeatable on purpose
					for range 100 {
						n := random.IntN(6)
						p := newPod(fmt.Sprint("web-", n/2), types.UID(strconv.Itoa(n)), "a", "b")
						if n%3 == 0 {
							p = fromAPI(p)
						}
						switch kind := Kind(random.IntN(6)); kind {
						case Create, Update, Sync, Kill:
							b.pool.Update(Request{Kind: kind, Pod: p})
						default:
							b.pool.Known(func(uid types.UID) bool { return uid != p.UID })
						}
						time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
					}
				})
			}
			wg.Wait()
			for range 10 {
				b.pool.Known(wants())
				synctest.Wait()
			}
			if left := b.pool.Known(wants()); len(left) != 0 {
				t.Errorf("seed %d: workers are left: %v", seed, left)
			}
			for uid, o := range b.pods {
				for _, c := range o.Containers {
					if c.State == status.StateRunning {
						t.Errorf("seed %d: container %s of pod %s runs on", seed, c.Name, uid)
					}
				}
			}
			if g := b.pool.gate; len(g.holders)+len(g.waiting) != 0 {
				t.Errorf("seed %d: the gate keeps %+v", seed, g)
			}
		})
	}
}
