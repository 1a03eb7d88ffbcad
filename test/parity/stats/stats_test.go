package stats

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/metrics/collectors"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/stats"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
)

const worlds = 200

// world is a random machine with pods. It is the runtime of the statistics.
type world struct {
	usage *runtime.Usage
	pods  []status.ObservedPod
}

func (w *world) Usage(context.Context) (*runtime.Usage, error) { return w.usage, nil }

func (w *world) Stores(context.Context) (images, containers runtime.Store, err error) {
	return images, containers, nil
}

// maybe returns a random number, or nil.
func maybe(r *rand.Rand) *uint64 {
	if r.IntN(4) == 0 {
		return nil
	}
	return new(r.Uint64N(1 << 50))
}

func newWorld(r *rand.Rand, now time.Time) *world {
	w := &world{usage: &runtime.Usage{Sandboxes: map[string]*statsapi.PodStats{}, Containers: map[string]*runtime.ContainerUsage{}}}
	at := func() metav1.Time { return metav1.NewTime(now.Add(-time.Duration(r.IntN(20_000)) * time.Millisecond)) }
	cpu := func() *statsapi.CPUStats {
		if r.IntN(5) == 0 {
			return nil
		}
		return &statsapi.CPUStats{Time: at(), UsageCoreNanoSeconds: maybe(r), UsageNanoCores: maybe(r)}
	}
	memory := func() *statsapi.MemoryStats {
		if r.IntN(5) == 0 {
			return nil
		}
		return &statsapi.MemoryStats{Time: at(), WorkingSetBytes: maybe(r), AvailableBytes: maybe(r)}
	}
	for i := range r.IntN(5) {
		p := status.ObservedPod{UID: types.UID(fmt.Sprint("uid-", i)), Name: fmt.Sprint("pod-", i), Namespace: []string{"default", "shop"}[r.IntN(2)]}
		box := fmt.Sprint("box-", i)
		p.Sandboxes = []status.ObservedSandbox{{ID: box, Ready: r.IntN(5) > 0, CreatedAt: now.Add(-time.Hour)}}
		w.usage.Sandboxes[box] = &statsapi.PodStats{CPU: cpu(), Memory: memory()}
		for j := range r.IntN(4) {
			c := status.ObservedContainer{ID: fmt.Sprint(box, "-", j), SandboxID: box, Name: fmt.Sprint("c-", j), State: status.StateRunning, StartedAt: now.Add(-time.Duration(r.IntN(1e9)))}
			if r.IntN(4) == 0 {
				c.StartedAt = time.Time{}
			}
			use := &runtime.ContainerUsage{ContainerStats: statsapi.ContainerStats{CPU: cpu(), Memory: memory()}}
			if r.IntN(2) == 0 {
				use.Swap = &statsapi.SwapStats{Time: at(), SwapUsageBytes: maybe(r), SwapAvailableBytes: maybe(r)}
			}
			if r.IntN(6) > 0 {
				w.usage.Containers[c.ID] = use
			}
			p.Containers = append(p.Containers, c)
		}
		w.pods = append(w.pods, p)
	}
	return w
}

// open returns the statistics of a world, on a machine that is the same for all.
func open(t *testing.T, w *world, now time.Time) *stats.Stats {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/self/mountinfo": "30 23 0:27 / /sys/fs/cgroup rw - " + strings.Repeat("cgroup2 ", 2) + "rw\n", "proc/stat": "cpu 123 0 7 5 5 0 0 0 0 0\nbtime 1700000000\n",
		"proc/meminfo": "MemTotal: 1000 kB\nMemFree: 400 kB\nInactive(file): 100 kB\nSwapTotal: 20 kB\nSwapFree: 5 kB\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernel.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return stats.New(stats.Config{
		Node: "edge", Runtime: w, Kernel: k, Observed: func() []status.ObservedPod { return w.pods }, Pods: func() []*v1.Pod { return nil },
		Layout: pod.Layout{PodRoot: root}, CgroupRoot: func() string { return "/wardlet" }, PID: 7, CPUs: 2, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
}

// provider has the summaries for the kubelet's collector.
type provider struct{ of *stats.Stats }

func (p provider) Get(ctx context.Context, _ bool) (*statsapi.Summary, error) {
	return p.GetCPUAndMemoryStats(ctx)
}

func (p provider) GetCPUAndMemoryStats(ctx context.Context) (*statsapi.Summary, error) {
	return p.of.Summary(ctx, true)
}

// kubelets returns the text of the kubelet's collector.
func kubelets(t *testing.T, of *stats.Stats) string {
	t.Helper()
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(collectors.NewResourceMetricsCollector(provider{of}))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	encoder := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// samples returns the sorted lines of a scrape without the help texts. A kubelet no longer has
// scrape_error by default, which was renamed to resource_scrape_error.
func samples(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# HELP") || strings.HasPrefix(line, "scrape_error") || strings.HasPrefix(line, "# TYPE scrape_error") {
			continue
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}

func TestResource_isTheTextOfAKubelet(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_100, 0)
	for seed := range uint64(worlds) {
		of := open(t, newWorld(rand.New(rand.NewPCG(seed, 1)), now), now)
		w := httptest.NewRecorder()
		of.Resource().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics/resource", http.NoBody))
		ours, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(samples(kubelets(t, of)), samples(string(ours))); diff != "" {
			t.Fatalf("world %d (-kubelet +wardlet):\n%s", seed, diff)
		}
	}
}

// TestSummary_readsAsAKubelets decodes summaries as a strict reader of the kubelet's type, and gets
// the same again.
func TestSummary_readsAsAKubelets(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_100, 0)
	for seed := range uint64(worlds) {
		of := open(t, newWorld(rand.New(rand.NewPCG(seed, 2)), now), now)
		summary, err := of.Summary(t.Context(), seed%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(summary)
		if err != nil {
			t.Fatal(err)
		}
		var read statsapi.Summary
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&read); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&read)
		if diff := cmp.Diff(string(text), string(again)); err != nil || diff != "" {
			t.Fatalf("world %d, %v (-want +got):\n%s", seed, err, diff)
		}
	}
}
