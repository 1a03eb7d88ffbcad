package gc

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A removed container may still be known for a moment.
func TestWhatWasRemovedIsNotRemovedAgainWhileItIsStillKnown(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{
		"of a pod that is gone":        false,
		"of a pod that is still shown": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := goneNode()
				n.pods["u"].Sandboxes[0].Ready = false
				delete(n.removable, "u")
				c, stop := quietly(t, n)
				defer stop()
				n.mu.Lock()
				if n.over["u"] = over; !over {
					n.removable["u"] = "files"
				}
				n.mu.Unlock()
				n.knows()
				c.Ended("u")
				synctest.Wait()
				calls := func(name string) (number int) {
					for _, call := range n.done() {
						if call == name {
							number++
						}
					}
					return number
				}
				if calls("sandbox s2") != 1 {
					t.Fatalf("done: %v", n.done())
				}
				c.Ended("u") // the pod's worker is gone, too
				time.Sleep(2*retryInterval + lookInterval)
				synctest.Wait()
				for _, call := range []string{"container c2", "stop s2", "sandbox s2"} {
					if number := calls(call); number != 1 {
						t.Errorf("%q %d times, want once", call, number)
					}
				}
				if number := calls("volumes u"); number > 2 {
					t.Errorf("looked for what else it left %d times, want once for each word of its end", number)
				}
			})
		})
	}
}

func TestWhatIsMadeAfterARemovalIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNode()
		n.add("u", []string{"c3 a running s", "c2 a exited s", "c1 a exited s"}, []string{"s ready"})
		n.knows()
		_, stop := quietly(t, n)
		defer stop()
		n.mu.Lock()
		n.pods["u"].Containers[0].State = "exited"
		n.mu.Unlock()
		n.knows()
		time.Sleep(retryInterval + 2*lookInterval)
		synctest.Wait()
		if got := n.done(); slices.Contains(got, "container c3") {
			t.Fatalf("done: %v", got)
		}
		n.mu.Lock()
		n.calls = nil
		c4 := n.pods["u"].Containers[0]
		c4.ID = "c4"
		n.pods["u"].Containers = slices.Insert(n.pods["u"].Containers, 0, c4)
		n.mu.Unlock()
		n.knows()
		time.Sleep(retryInterval + lookInterval)
		synctest.Wait()
		if got := n.done(); len(got) != 1 {
			t.Errorf("done: %v, want one of two dead instances but the newest to go", got)
		}
	})
}

func TestWhatWasRemovedIsForgottenInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := goneNode()
		c, _, stop := start(t, n)
		defer stop()
		synctest.Wait()
		count := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.gone)
		}
		if count() != 4 {
			t.Errorf("%d remembered, want 2 containers and 2 sandboxes", count())
		}
		time.Sleep(removedFor + 2*maxInterval)
		synctest.Wait()
		if count() != 0 {
			t.Errorf("%d remembered for good", count())
		}
	})
}
