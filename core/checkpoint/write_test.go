package checkpoint

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

func TestWhatIsKeptOfPodsNobodyWantsAnyMoreGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := outcomePod("h")
		other := p.DeepCopy()
		other.UID, other.Annotations = "u2", map[string]string{pod.AnnotationSource: "not yet seen"}
		r := runOutcomes(t, kept(t, p, fares(v1.PodFailed, 0)), kept(t, other, fares(v1.PodFailed, 0)))
		left := func(when string, want ...types.UID) {
			t.Helper()
			time.Sleep(2 * outcomeSweep)
			synctest.Wait()
			r.files.mu.Lock()
			defer r.files.mu.Unlock()
			got := slices.Sorted(maps.Keys(r.files.files))
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v are left, want %v", when, got, want)
			}
		}
		left("while they are wanted", "u1", "u2")
		r.now(func() { r.unwanted["u1"], r.unwanted["u2"], r.busy["u1"] = true, true, true })
		left("while the pod runs, or its source was not seen", "u1", "u2")
		r.now(func() { r.busy["u1"] = false })
		left("then", "u2")
		if _, known := r.Saved(other); !known {
			t.Error("the pod of the source that was seen late is not known")
		}
		// The pod has a worker now, which decides whether the outcome is kept.
		r.now(func() { r.seen = true })
		left("when it has a worker", "u2")
	})
}

func TestAPodThatComesBackWhileItIsLookedAtKeepsWhatItHad(t *testing.T) {
	t.Parallel()
	p := outcomePod("h")
	files := &outcomeFiles{files: map[types.UID]state.Outcome{"u1": kept(t, p, fares(v1.PodFailed, 0))}}
	o := NewOutcomes(files, slog.New(slog.DiscardHandler))
	o.Removable = func(types.UID, string) bool {
		if _, known := o.Saved(p); !known {
			t.Error("it is not known")
		}
		return true
	}
	o.sweep()
	o.kept.Flush()
	if _, left, _ := files.on("u1"); !left {
		t.Error("it is not on the disk any more")
	}
}

func TestWhatCannotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		r.files.err = errors.New("no space left on device")
		r.Save(p, fares(v1.PodSucceeded, 0))
		time.Sleep(outcomeRetry)
		synctest.Wait()
		r.expect(t, "on a full disk", "", 0, 2)
		if n := strings.Count(r.log.String(), "no space left on device"); n != 1 {
			t.Errorf("it is said %d times: %s", n, &r.log)
		}
		r.files.mu.Lock()
		r.files.err = nil
		r.files.mu.Unlock()
		time.Sleep(outcomeRetry)
		synctest.Wait()
		r.expect(t, "afterwards", v1.PodSucceeded, 0, 3)
		if !strings.Contains(r.log.String(), "saved again") {
			t.Errorf("that it is over is not said: %s", &r.log)
		}
	})
}

// TestOutcomesFromManySides calls Outcomes from many goroutines at once, for the race detector.
func TestOutcomesFromManySides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		var sides sync.WaitGroup
		for side := range int32(4) {
			sides.Go(func() {
				for i := range int32(50) {
					switch side {
					case 0:
						r.Save(p, fares(v1.PodRunning, i))
					case 1:
						r.Save(p, fares(v1.PodFailed, i))
					case 2:
						r.Saved(p)
					default:
						r.Forget("u1")
					}
					time.Sleep(time.Duration(i) * 20 * time.Millisecond)
				}
			})
		}
		sides.Wait()
		r.Forget("u1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, left, _ := r.files.on("u1"); left || len(r.claimed) > 0 {
			t.Errorf("left after the last Forget: file %v, %d claimed", left, len(r.claimed))
		}
		r.Save(p, fares(v1.PodFailed, 1))
		if _, left, _ := r.files.on("u1"); !left {
			t.Error("a pod that ends after that is not kept")
		}
	})
}
