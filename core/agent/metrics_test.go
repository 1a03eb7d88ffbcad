package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/site"
)

func TestAnAgentHasTheMetricsOfTheDocumentAndNoOthers(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", nil)
	n.Cfg.Policy.Dir = n.Path("policies")
	n.Cfg.Tenants = []config.Tenant{{Name: "a", Namespaces: []string{"a"}, PolicyDir: n.Path("a"), FuelPerSecond: 1_000_000}}
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	document, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	a.meters.Metrics.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	for line := range strings.Lines(answer.Body.String()) {
		name, ok := strings.CutPrefix(line, "# TYPE ")
		name, _, _ = strings.Cut(name, " ")
		if ok && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.Contains(string(document), "| `"+name+"` |") {
			t.Errorf("docs/metrics.md has no %s", name)
		}
	}
	for prefix, want := range map[string]string{
		"kubelet_node_name":               `kubelet_node_name{node="edge"} 1`,
		"wardlet_build_info":              "",
		"process_resident_memory_bytes":   "",
		"go_goroutines":                   "",
		`wardlet_policy_set_ready{`:       `wardlet_policy_set_ready{tenant="operator"} 0`,
		`wardlet_policy_set_policies{`:    `wardlet_policy_set_policies{tenant="a"} 0`,
		`wardlet_source_seen{`:            `wardlet_source_seen{kind="file",source="static"} 0`,
		`wardlet_waiting_pods{tenant="a"`: `wardlet_waiting_pods{tenant="a",wait="held"} 0`,
		`wardlet_conflicts{`:              `wardlet_conflicts{tenant="operator"} 0`,
		"kubelet_pleg_last_seen_seconds":  "kubelet_pleg_last_seen_seconds 0",
	} {
		found := false
		for line := range strings.Lines(answer.Body.String()) {
			found = found || strings.HasPrefix(line, prefix) && (want == "" || line == want+"\n")
		}
		if !found {
			t.Errorf("there is no %s%s", prefix, want)
		}
	}
}

// runParts runs the named stages of an agent until the test ends. It returns the names of all
// stages.
func runParts(t *testing.T, a *Node, names ...string) (all []string) {
	t.Helper()
	stages, err := a.stages()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	for _, s := range stages {
		all = append(all, s.Name)
		if slices.Contains(names, s.Name) {
			ran.Go(func() { _ = s.Run(ctx) })
		}
	}
	t.Cleanup(func() {
		cancel()
		ran.Wait()
	})
	return all
}

func TestAWatchOfAnAgentTellsOfPodsThatComeAndGo(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", map[string]string{"db.yaml": strings.ReplaceAll(site.GoodPod, "web", "db")})
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	runParts(t, a, "local API", "mux", "source static")

	steps := []struct {
		do   func()
		want string
	}{
		{func() {}, "ADDED db-edge"},
		{func() { n.Write(t, "static/web.yaml", site.GoodPod) }, "ADDED web-edge"},
		{func() { a.statuses.SetPolicyWarning(a.mux.Pods()[0].Pod.UID, "R", "m", time.Now()) }, ""}, // the pod has no status yet
		{func() {
			if err := os.Remove(n.Path("static/web.yaml")); err != nil {
				t.Error(err)
			}
		}, "DELETED web-edge"},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	step := 0
	err = client.New(n.Cfg.Paths.Socket).Watch(ctx, "/v1/pods?watch=true", func(line client.Line) error {
		if line.Type == api.WatchBookmark {
			return nil
		}
		var p v1.Pod
		if err := json.Unmarshal(line.Object, &p); err != nil {
			return err
		}
		if got := line.Type + " " + p.Name; got != steps[step].want {
			t.Errorf("step %d: %s, want %s", step, got, steps[step].want)
		}
		for step++; step < len(steps); step++ {
			steps[step].do()
			if steps[step].want != "" {
				return nil
			}
		}
		cancel()
		return nil
	})
	if step != len(steps) {
		t.Errorf("%d steps of %d, error %v", step, len(steps), err)
	}
	if got := measured(t, a.meters.Metrics.Handler(), "kubelet_desired_pods"); !slices.Equal(got, []string{`kubelet_desired_pods{static="true"} 1`}) {
		t.Errorf("metrics: %q", got)
	}
	// The sync loop does not run, so no worker has received the pod.
	if got := measured(t, a.meters.Metrics.Handler(), "kubelet_active_pods"); len(got) != 0 {
		t.Errorf("pods without a worker are active: %q", got)
	}
}

// measured returns the samples whose names begin with a prefix, without samples of value 0.
func measured(t *testing.T, h http.Handler, prefix string) (all []string) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	for line := range strings.Lines(answer.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, prefix) && !strings.HasSuffix(line, " 0") {
			all = append(all, line)
		}
	}
	return all
}

func TestMetricsAreAnsweredAtTheAddressOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"": false, "127.0.0.1:9": true} {
		n := site.New(t)
		n.Source(t, "static", nil)
		n.Cfg.Metrics.Listen = address
		a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.close)
		if got := slices.Contains(runParts(t, a, "local API"), "metrics"); got != want {
			t.Errorf("%q: there is a stage %v, want %v", address, got, want)
		}
	}
}
