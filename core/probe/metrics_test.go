package probe

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	v1 "k8s.io/api/core/v1"
)

// text returns the metrics of probes without those of buckets.
func (r *rig) text() string {
	r.Helper()
	synctest.Wait()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Manager)
	families, err := registry.Gather()
	if err != nil {
		r.Fatal(err)
	}
	var all strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
			r.Fatal(err)
		}
	}
	var lines []string
	for line := range strings.Lines(all.String()) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket") || strings.Contains(line, `le="2.5"`) || strings.Contains(line, `le="1"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestManager_Collect(t *testing.T) {
	t.Parallel()
	run(t, func(r *rig) {
		probe := every(10)
		probe.TimeoutSeconds = 2
		p := newPod(v1.Container{ReadinessProbe: probe})
		r.Add(p)
		if got := r.text(); got != "" {
			t.Errorf("before a probe:\n%s", got)
		}
		r.starts(p, "one")
		time.Sleep(5 * time.Second)
		r.find("main", true)
		time.Sleep(20 * time.Second)
		r.mu.Lock()
		r.err = errors.New("the runtime is away")
		r.mu.Unlock()
		time.Sleep(14 * time.Second)
		const want = `prober_probe_duration_seconds_bucket{container="main",namespace="shop",pod="web",probe_type="Readiness",le="1"} 0
prober_probe_duration_seconds_bucket{container="main",namespace="shop",pod="web",probe_type="Readiness",le="2.5"} 2
prober_probe_duration_seconds_sum{container="main",namespace="shop",pod="web",probe_type="Readiness"} 4
prober_probe_duration_seconds_count{container="main",namespace="shop",pod="web",probe_type="Readiness"} 2
prober_probe_total{container="main",namespace="shop",pod="web",pod_uid="u1",probe_type="Readiness",result="failed"} 1
prober_probe_total{container="main",namespace="shop",pod="web",pod_uid="u1",probe_type="Readiness",result="successful"} 2
`
		if got := r.text(); got != want {
			t.Errorf("metrics\n%swant\n%s", got, want)
		}
		r.Remove(p.UID)
		if got := r.text(); got != "" {
			t.Errorf("without the pod:\n%s", got)
		}
	})
}
