//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// samples maps the name and labels of each sample to its value.
type samples map[string]float64

// scrape is the content of /metrics.
type scrape struct {
	samples
	// families are the names of all metrics, without those of the process.
	families []string
}

// measured reads the metrics from the agent's socket, as docs/metrics.md describes.
func (a *agent) measured(ctx context.Context) (got scrape, err error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", a.Path("run", "w.sock"))
	}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://wardlet/metrics", http.NoBody)
	if err != nil {
		return got, err
	}
	response, err := client.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return got, err
	}
	return parse(string(text))
}

// parse parses the text format of Prometheus.
func parse(text string) (scrape, error) {
	all := scrape{samples: samples{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if family, ok := strings.CutPrefix(line, "# TYPE "); ok && !strings.HasPrefix(family, "go_") && !strings.HasPrefix(family, "process_") {
			name, _, _ := strings.Cut(family, " ")
			all.families = append(all.families, name)
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		end := max(strings.LastIndexByte(line, ' '), 0)
		value, err := strconv.ParseFloat(strings.TrimSpace(line[end:]), 64)
		if err != nil {
			return scrape{}, fmt.Errorf("line %q: %w", line, err)
		}
		all.samples[line[:end]] = value
	}
	return all, nil
}

// measures waits until each sample in exact has its value, 0 for a missing sample,
// and each sample in least has at least its value.
func (a *agent) measures(t *testing.T, when string, exact, least samples) (got scrape) {
	t.Helper()
	eventually(t, "metrics "+when, func(ctx context.Context) error {
		var err error
		if got, err = a.measured(ctx); err != nil {
			return err
		}
		var wrong []error
		for sample, want := range exact {
			if got.samples[sample] != want {
				wrong = append(wrong, fmt.Errorf("%s is %v, want %v", sample, got.samples[sample], want))
			}
		}
		for sample, want := range least {
			if got.samples[sample] < want {
				wrong = append(wrong, fmt.Errorf("%s is %v, want %v at least", sample, got.samples[sample], want))
			}
		}
		return errors.Join(wrong...)
	})
	return got
}

// documented returns the metrics that docs/metrics.md lists.
func documented(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	agents, _, _ := strings.Cut(string(text), "<!-- end -->") // what follows is not part of /metrics
	for line := range strings.Lines(agents) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			names = append(names, name)
		}
	}
	if len(names) < 40 {
		t.Fatalf("docs/metrics.md has only %q", names)
	}
	return names
}

// unusual are the metrics that appear only after an error.
var unusual = []string{
	"container_oom_events_total", "kubelet_evictions", "kubelet_graceful_shutdown_end_time_seconds", "kubelet_graceful_shutdown_start_time_seconds", "kubelet_image_garbage_collected_total",
	"kubelet_restarted_pods_total", "kubelet_run_podsandbox_errors_total", "kubelet_runtime_operations_errors_total",
	"kubelet_started_containers_errors_total", "wardlet_policy_failures_total",
}

// cgroupVersion returns the machine's cgroup version.
func cgroupVersion() float64 {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err != nil {
		return 1
	}
	return 2
}

const (
	started    = `kubelet_started_containers_total{container_type="container"}`
	completed  = `kubelet_terminated_containers_total{container_type="container",exit_code="0",reason="Completed"}`
	failedWith = `kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"}`
	rejections = `kubelet_admission_rejections_total{reason=%q}`
	runningIn  = `kubelet_running_containers{container_state=%q}`
	operations = `kubelet_runtime_operations_total{operation_type=%q}`
	turns      = `kubelet_pod_worker_duration_seconds_count{operation_type=%q}`
	judged     = `wardlet_policy_verdicts_total{hook="admit",tenant="operator",verdict=%q}`
	opinions   = `wardlet_policy_opinions_total{mode="enforce",policy="allowed-images",tenant="operator",verdict=%q}`
	desired    = `kubelet_desired_pods{static=%q}`
	active     = `kubelet_active_pods{static=%q}`
	listed     = "kubelet_pleg_relist_duration_seconds_count"
)

func TestMetricsTellWhatHappensToPods(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "counted")
	a.withPolicies(t)
	module := example(t, "allowed-images-c")
	a.module(t, "allowed-images", module, "on_change = \"report\"\n"+allow(webOne))
	a.place(t, "next.toml", document("allowed-images", "admit", module, "mode = \"shadow\"\n"+allow(webOne)))
	a.saysNode(t, "max_pods = 1\ncritical = [\"default/dns\"]\n")
	a.start(t)
	a.inForce(t, "allowed-images", "allowed-images")
	a.measures(t, "before anything happens", samples{
		`kubelet_node_name{node="counted"}`: 1, "kubelet_cgroup_version": cgroupVersion(),
		"kubelet_running_pods": 0, fmt.Sprintf(runningIn, "running"): 0, fmt.Sprintf(desired, "true"): 0,
		started: 0, completed: 0, "kubelet_started_pods_total": 0, fmt.Sprintf(turns, "create"): 0,
		fmt.Sprintf(rejections, "Other"): 0, fmt.Sprintf(judged, "allow"): 0,
		`wardlet_policy_set_ready{tenant="operator"}`: 1, `wardlet_policy_set_policies{tenant="operator"}`: 2,
	}, samples{listed: 1})

	a.manifest(t, "job.yaml", hostPod("job", "exit", "-code", `"3"`)+"  restartPolicy: Never\n")
	a.pod(t, "job", func(p *v1.Pod) error {
		if p.Status.Phase != v1.PodFailed {
			return fmt.Errorf("phase %s", p.Status.Phase)
		}
		return nil
	})
	a.measures(t, "when nothing of the pod is left to do", samples{fmt.Sprintf(active, "true"): 0}, samples{fmt.Sprintf(turns, "terminated"): 1})
	a.manifest(t, "evil.yaml", imagePod("evil", webTwo, ""))
	a.pod(t, "evil", denied("ImageNotAllowed"))
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "web")
	a.manifest(t, "other.yaml", hostPod("other", "sleep"))
	a.pod(t, "other", rejected("OutOfpods"))
	a.measures(t, "when one pod runs", samples{
		"kubelet_running_pods": 1, fmt.Sprintf(runningIn, "running"): 1, fmt.Sprintf(runningIn, "exited"): 1,
		fmt.Sprintf(desired, "true"): 4, fmt.Sprintf(active, "true"): 1,
		started: 2, "kubelet_started_pods_total": 2, "kubelet_started_pods_errors_total": 0, failedWith: 1,
		fmt.Sprintf(rejections, "Other"): 1, fmt.Sprintf(rejections, "OutOfpods"): 1,
		`kubelet_preemptions{preemption_signal="pods"}`: 0,
		fmt.Sprintf(judged, "allow"):                    3, fmt.Sprintf(judged, "deny"): 1,
		fmt.Sprintf(opinions, "allow"): 3, fmt.Sprintf(opinions, "deny"): 1,
		`wardlet_policy_verdict_duration_seconds_count{hook="admit"}`: 4,
		`wardlet_source_documents{kind="file",source="static"}`:       4,
		`kubelet_pod_worker_start_duration_seconds_count`:             2, "kubelet_containers_per_pod_count_sum": 2,
	}, samples{
		fmt.Sprintf(turns, "create"): 2, fmt.Sprintf(turns, "kill"): 1, fmt.Sprintf(turns, "terminated"): 1,
		`wardlet_policy_fuel_total{policy="allowed-images",tenant="operator"}`:    1,
		"kubelet_pleg_last_seen_seconds":                                          float64(time.Now().Add(-2 * patience).Unix()),
		`kubelet_cgroup_manager_duration_seconds_count{operation_type="create"}`:  2,
		`kubelet_cgroup_manager_duration_seconds_count{operation_type="destroy"}`: 1,
		`kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""}`:       2,
		"kubelet_pleg_pod_relist_duration_seconds_count":                          2,
		`wardlet_events_total{tenant="operator",type="Warning"}`:                  2,
		`wardlet_events_total{tenant="operator",type="Normal"}`:                   4,
		fmt.Sprintf(operations, "status"):                                         1,
	})

	a.manifest(t, "dns.yaml", hostPod("dns", "sleep"))
	a.running(t, "dns")
	a.pod(t, "web", denied("Preempting"))
	a.measures(t, "when it has given way to another", samples{
		`kubelet_preemptions{preemption_signal="pods"}`: 1, fmt.Sprintf(rejections, "Other"): 1, fmt.Sprintf(rejections, "OutOfpods"): 1,
		"kubelet_running_pods": 1, fmt.Sprintf(runningIn, "running"): 1, started: 3, "kubelet_started_pods_total": 3,
		failedWith: 1, completed: 1, fmt.Sprintf(active, "true"): 1, fmt.Sprintf(desired, "true"): 5,
	}, nil)

	a.remove(t, "other.yaml")
	eventually(t, "the one that waits is gone", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if _, waits := pods["other-counted"]; waits && err == nil {
			err = errors.New("it is there")
		}
		return err
	})
	a.remove(t, "job.yaml", "evil.yaml", "web.yaml", "dns.yaml")
	a.nothingLeft(t, n)
	last := a.measures(t, "in the end", samples{
		"kubelet_running_pods": 0, fmt.Sprintf(runningIn, "running"): 0, fmt.Sprintf(runningIn, "exited"): 0,
		fmt.Sprintf(desired, "true"): 0, fmt.Sprintf(active, "true"): 0, started: 3, "kubelet_started_pods_total": 3,
		fmt.Sprintf(operations, "run_podsandbox"): 3, fmt.Sprintf(operations, "start_container"): 3, failedWith: 1, completed: 2,
		fmt.Sprintf(turns, "create"): 3, fmt.Sprintf(turns, "update"): 0,
		fmt.Sprintf(judged, "allow"): 4, fmt.Sprintf(judged, "deny"): 1,
		`wardlet_source_documents{kind="file",source="static"}`: 0,
	}, samples{
		fmt.Sprintf(turns, "sync"): 1, fmt.Sprintf(turns, "kill"): 3, fmt.Sprintf(turns, "terminated"): 3,
		fmt.Sprintf(operations, "stop_podsandbox"): 3, fmt.Sprintf(operations, "remove_podsandbox"): 3,
		`kubelet_cgroup_manager_duration_seconds_count{operation_type="destroy"}`: 3, listed: 2,
	})
	known, there := documented(t), last.families
	for _, name := range known {
		if !slices.Contains(there, name) && !slices.Contains(unusual, name) {
			t.Errorf("docs/metrics.md has %s, and /metrics has not", name)
		}
	}
	for _, name := range there {
		if !slices.Contains(known, name) {
			t.Errorf("/metrics has %s, and docs/metrics.md has not", name)
		}
	}
	a.stop(t)
}

func TestWhatAMergePolicyTakesIsMeasured(t *testing.T) {
	t.Parallel()
	memory := fakecri.Start(t)
	memory.Load(webOne, 1, fakecri.Program{})
	f := startFleet(t)
	f.serves(imagePod("web", webOne, "from: fleet"))
	a := newAgentAt(t, memory.Endpoint(), "contest")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	a.put(t, a.Path("policies"), "first", "merge", wasmtest.Merging(0, "First", "it comes first"), "")
	a.start(t)
	a.inForce(t, "first")
	const fuel, answers = `wardlet_policy_fuel_total{policy="first",tenant="operator"}`, `wardlet_policy_verdicts_total{hook="merge",tenant="operator",verdict="winner"}`
	a.measures(t, "before there is a conflict", samples{fuel: 0, answers: 0}, nil)
	a.manifest(t, "web.yaml", imagePod("web", webOne, "from: static"))
	a.only(t, "static")
	a.measures(t, "once it is decided", samples{`wardlet_conflicts{tenant="operator"}`: 1}, samples{
		fuel: 1, answers: 1, `wardlet_policy_verdict_duration_seconds_count{hook="merge"}`: 1,
	})
	a.stop(t)
}
