package eviction

import (
	"context"
	"errors"
	"fmt"
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

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// world is a node with 10 GiB of memory and pods whose usage a test sets. Evicted pods terminate
// after the time in stops, or never if they have none, and then use nothing.
type world struct {
	mu        sync.Mutex
	pods      map[types.UID]*v1.Pod
	usage     map[types.UID]Usage
	base      Observations
	dedicated bool
	stops     map[types.UID]time.Duration
	// deadUsage is what dead containers use on the disk, and imageUsage what unused images do.
	deadUsage, imageUsage int64
	unknown               bool

	log   []string
	began time.Time
	// changes counts calls of Changed.
	changes int
}

func newWorld(t *testing.T, pods ...string) *world {
	t.Helper()
	w := &world{
		pods: map[types.UID]*v1.Pod{}, usage: map[types.UID]Usage{}, stops: map[types.UID]time.Duration{}, began: time.Now(),
		base: Observations{threshold.MemoryAvailable: {10 * gib, 10 * gib}, threshold.NodeFSAvailable: {10 * gib, 10 * gib}},
	}
	for _, text := range pods {
		p, u := podOf(t, text)
		w.pods[p.UID], w.usage[p.UID], w.stops[p.UID] = p, u, time.Second/2
	}
	return w
}

func (w *world) use(name string, memory float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.usage[types.UID(name)] = Usage{Total: int64(memory * gib)}
}

// happened returns what happened since the last call, as "SECOND WHAT".
func (w *world) happened() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.log, "; ")
	w.log = nil
	return all
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%d ", int(time.Since(w.began).Seconds()))+fmt.Sprintf(format, args...))
}

func (w *world) Observe(context.Context) Observations {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unknown {
		return Observations{}
	}
	seen := maps.Clone(w.base)
	memory, disk := seen[threshold.MemoryAvailable], seen[threshold.NodeFSAvailable]
	for _, u := range w.usage {
		memory.Available -= u.Total
	}
	disk.Available -= w.deadUsage + w.imageUsage
	seen[threshold.MemoryAvailable], seen[threshold.NodeFSAvailable] = memory, disk
	return seen
}

func (w *world) DedicatedImageFS() bool { return w.dedicated }

func (w *world) Usage(context.Context, []*v1.Pod, threshold.Signal) map[types.UID]Usage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.usage)
}

func (w *world) Active() []*v1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.pods))
}

func (w *world) CleanedUp(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, there := w.pods[uid]
	return !there
}

func (w *world) Evict(p *v1.Pod, grace int64, message string, _ map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	low, _, _ := strings.Cut(message, ". ")
	w.note("evict %s in %d s: %s", p.Name, grace, strings.TrimPrefix(low, "The node was low on resource: "))
	if after, stops := w.stops[p.UID]; stops {
		time.AfterFunc(after, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.pods, p.UID)
			delete(w.usage, p.UID)
		})
	}
}

func (w *world) RemoveDeadContainers(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("remove dead containers")
	w.deadUsage = 0
	return nil
}

func (w *world) RemoveUnusedImages(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("remove unused images")
	w.imageUsage = 0
	return errors.New("an image is in use after all")
}

func (w *world) config(t *testing.T, s threshold.Settings) Config {
	t.Helper()
	return Config{
		Thresholds: thresholds(t, s), Transition: 5 * time.Minute, Node: w, Pods: w, Reclaim: w,
		Critical:  func(p *v1.Pod) bool { return *p.Spec.Priority >= 2_000_000_000 },
		NodeEvent: func(reason, message string) { w.mu.Lock(); defer w.mu.Unlock(); w.note("%s: %s", reason, message) },
		Changed:   func() { w.changes++ },
		Log:       slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// run runs a manager while test runs.
func run(t *testing.T, cfg Config, test func(m *Manager)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	m := New(cfg)
	ended.Go(func() { m.Run(ctx) })
	synctest.Wait()
	test(m)
	cancel()
	ended.Wait()
}

func expect(t *testing.T, w *world, want string) {
	t.Helper()
	synctest.Wait()
	if got := w.happened(); got != want {
		t.Errorf("happened\n  %s\nwant\n  %s", got, want)
	}
}

var hardMemory = threshold.Settings{Hard: map[string]string{"memory.available": "1Gi"}}

func TestManager_evictsOnePodAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/a 0 - 1", "shop/b 0 - 1", "shop/c 5 - 1", "shop/d 0 9Gi 1")
		run(t, w.config(t, hardMemory), func(m *Manager) {
			time.Sleep(15 * time.Second)
			expect(t, w, "")
			w.use("a", 5)
			w.use("b", 6)
			time.Sleep(10 * time.Second)
			// After b there are 8 GiB in use: a may stay.
			expect(t, w, "20 EvictionThresholdMet: Attempting to reclaim memory; 20 evict b in 1 s: memory")
			if c := m.Conditions(); len(c) != 1 || c[0].Type != v1.NodeMemoryPressure {
				t.Errorf("conditions %+v", c)
			}
			w.use("d", 4)
			time.Sleep(time.Minute)
			expect(t, w, "31 EvictionThresholdMet: Attempting to reclaim memory; 31 evict a in 1 s: memory")
			time.Sleep(5 * time.Minute)
			if c := m.Conditions(); len(c) != 0 || w.changes != 2 {
				t.Errorf("conditions %+v after %d changes", c, w.changes)
			}
		})
	})
}

func TestManager_continuesAtOnceWhenAPodHasTerminated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/a 0 - 6", "shop/b 0 - 5", "shop/c 0 - 4")
		w.stops["b"] = 45 * time.Second // longer than Run waits
		run(t, w.config(t, hardMemory), func(*Manager) {
			time.Sleep(3 * time.Minute)
			expect(t, w, "0 EvictionThresholdMet: Attempting to reclaim memory; 0 evict a in 1 s: memory")
			w.use("c", 9)
			w.use("b", 9.5)
			time.Sleep(2 * time.Minute)
			// b still uses memory in two passes, but c is not evicted in its place.
			expect(t, w, "181 EvictionThresholdMet: Attempting to reclaim memory; 181 evict b in 1 s: memory; "+
				"211 EvictionThresholdMet: Attempting to reclaim memory; 221 EvictionThresholdMet: Attempting to reclaim memory")
		})
	})
}

// A static pod that was evicted has the same UID when its document comes back.
func TestManager_evictsAPodThatCameBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/a 0 - 9.5", "shop/b 0 - 0.1")
		run(t, w.config(t, hardMemory), func(*Manager) {
			for range 2 {
				time.Sleep(5 * time.Minute)
				if got := w.happened(); strings.Count(got, "evict a") != 1 || strings.Contains(got, "evict b") {
					t.Errorf("happened %s", got)
				}
				p, u := podOf(t, "shop/a 0 - 9.5")
				w.mu.Lock()
				w.pods[p.UID], w.usage[p.UID] = p, u
				w.mu.Unlock()
			}
		})
	})
}

// TestManager_observesWithoutThresholds: Limits needs to know where images are.
func TestManager_observesWithoutThresholds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/a 0 - 1")
		cfg := w.config(t, hardMemory)
		cfg.Thresholds = nil
		observed := &observing{Node: w}
		cfg.Node = observed
		run(t, cfg, func(*Manager) { time.Sleep(time.Minute) })
		if observed.n == 0 {
			t.Error("the node was not observed")
		}
		expect(t, w, "")
	})
}

// observing counts observations.
type observing struct {
	Node
	n int
}

func (o *observing) Observe(ctx context.Context) Observations {
	o.n++
	return o.Node.Observe(ctx)
}

func TestManager_sparesCriticalPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/dns 2000000000 - 9.5")
		run(t, w.config(t, hardMemory), func(*Manager) {
			time.Sleep(time.Second)
			expect(t, w, "0 EvictionThresholdMet: Attempting to reclaim memory")
			p, u := podOf(t, "shop/web 1999999999 9Gi 0.1")
			w.mu.Lock()
			w.pods[p.UID], w.usage[p.UID], w.stops[p.UID] = p, u, time.Second/2
			w.mu.Unlock()
			time.Sleep(9*time.Second + time.Second/4)
			expect(t, w, "10 EvictionThresholdMet: Attempting to reclaim memory; 10 evict web in 1 s: memory")
		})
	})
}

func TestManager_softThresholdsHaveAGracePeriod(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		most int64
		own  *int64
		want int
	}{
		"the pod's":                {60, new(int64(40)), 40},
		"the longest that is left": {60, new(int64(90)), 60},
		"of a pod without one":     {60, nil, 60},
		"none by default":          {0, new(int64(40)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "shop/web 0 - 9.5")
				w.pods["web"].Spec.TerminationGracePeriodSeconds = test.own
				cfg := w.config(t, threshold.Settings{Soft: hardMemory.Hard, SoftGracePeriod: map[string]time.Duration{"memory.available": 25 * time.Second}})
				cfg.MaxPodGrace = test.most
				run(t, cfg, func(*Manager) {
					time.Sleep(35 * time.Second)
					expect(t, w, fmt.Sprintf("30 EvictionThresholdMet: Attempting to reclaim memory; 30 evict web in %d s: memory", test.want))
				})
			})
		})
	}
}

func TestManager_removesWhatNothingNeedsFirst(t *testing.T) {
	t.Parallel()
	const removed = "0 remove dead containers; 0 remove unused images"
	hard := threshold.Settings{Hard: map[string]string{"nodefs.available": "1Gi"}, MinimumReclaim: map[string]string{"nodefs.available": "1Gi"}}
	for name, test := range map[string]struct {
		dead, images, others float64
		dedicated            bool
		want                 string
	}{
		"enough dead containers": {3, 0, 7, false, removed},
		"enough images":          {0, 3, 7, false, removed},
		"less than the reclaim":  {1, 0.5, 8.1, false, removed + "; 0 evict web in 1 s: ephemeral-storage"},
		"on another file system": {3, 3, 4, true, "0 evict web in 1 s: ephemeral-storage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "shop/web 0 - 0.1")
				w.dedicated, w.deadUsage, w.imageUsage = test.dedicated, int64(test.dead*gib), int64(test.images*gib)
				w.base[threshold.NodeFSAvailable] = Observation{int64((10 - test.others) * gib), 10 * gib}
				run(t, w.config(t, hard), func(*Manager) {
					time.Sleep(500 * time.Millisecond)
					expect(t, w, "0 EvictionThresholdMet: Attempting to reclaim ephemeral-storage; "+test.want)
				})
			})
		})
	}
}

func TestManager_evictsNothingWhileTheStateIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "shop/web 0 - 9.5")
		w.unknown = true
		run(t, w.config(t, hardMemory), func(m *Manager) {
			time.Sleep(time.Minute)
			expect(t, w, "")
			if c := m.Conditions(); len(c) != 0 {
				t.Errorf("conditions %+v", c)
			}
		})
	})
}
