package metrics

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write docs/metrics.md anew")

var noon = time.Date(2026, 1, 2, 12, 0, 0, 500_000_000, time.UTC)

func newMetrics() *Metrics { return New("edge", "v9", slog.New(slog.DiscardHandler)) }

// scrape returns the lines of all metrics except those of the Go runtime and the process.
func scrape(t *testing.T, m *Metrics) []string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	var lines []string
	for line := range strings.Lines(answer.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			lines = append(lines, line)
		}
	}
	return lines
}

// values returns the samples whose names begin with a prefix, without the buckets of histograms and
// samples of value 0.
func values(t *testing.T, m *Metrics, prefix string) []string {
	t.Helper()
	return slices.DeleteFunc(scrape(t, m), func(line string) bool {
		return !strings.HasPrefix(line, prefix) || strings.Contains(line, "_bucket{") || strings.HasSuffix(line, " 0")
	})
}

// owners are the tenants a and b. The owner of a namespace is the part of its name before the dash.
var owners = Tenants{Names: []string{"a", "b"}, Of: func(namespace string) string {
	tenant, _, owned := strings.Cut(namespace, "-")
	if !owned {
		return ""
	}
	return tenant
}}

func inNamespace(namespace string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
}

// full returns all metrics, each with a value.
func full() *Metrics {
	m := newMetrics()
	p := m.PLEG(func() time.Time { return noon })
	p.Relisted(20 * time.Millisecond)
	p.Interval(time.Minute)
	p.Inspected(time.Millisecond)
	p.Dropped(3)
	p.StreamUp(true)
	p.StreamUp(false)
	p.StreamUp(true)
	p.Lag(-time.Second)
	o := m.Operations()
	o.Called("start_container", time.Second, false)
	o.Called("start_container", time.Second, true)
	w := m.Workers()
	w.Began(time.Second, 2)
	w.Began(-time.Second, 4)
	w.Running(3 * time.Second)
	w.Running(-time.Second)
	w.ObserveSync("create", 2*time.Second)
	w.ObserveSync("create", time.Second)
	w.ObserveSync("sync", time.Second)
	w.Restarted(true)
	w.Orphaned()
	w.Sandbox("", time.Second, false)
	w.Sandbox("", time.Second, true)
	w.Starting()
	w.NotStarted("ErrImagePull")
	m.Terminations().Terminated(137, "OOMKilled")
	s := m.Shutdowns()
	s.Shutdown(noon, time.Time{})
	s.Shutdown(noon, noon.Add(time.Second))
	m.OOMKills(func() []OOMKills { return []OOMKills{{"shop", "web", "main", 3}} })
	c := m.Cgroups(2)
	c.Created(time.Second)
	c.Destroyed(2 * time.Second)
	r := m.Rejections()
	r.Rejected("OutOfmemory")
	r.Preempted("memory", 2)
	evictions := m.Evictions()
	evictions.Evicted("memory.available")
	evictions.ImageRemoved("space")
	v := m.Verdicts()
	v.Spent([]api.Opinion{{Policy: "winners", Tenant: "a", Fuel: 5}})
	v.Verdict(api.HookAdmit, "a", string(api.Deny), time.Millisecond, []api.Opinion{
		{Policy: "images", Fuel: 700}, {Policy: "quota", Tenant: "a", Fuel: 20}, {Policy: "off"},
	})
	m.Events(owners).Event(inNamespace("a-web"), v1.EventTypeWarning, "R", "m")
	m.Pods(func() PodCounts {
		return PodCounts{
			Desired: map[bool]int{true: 3, false: 1}, Active: map[bool]int{true: 2}, Mirrors: 1, Running: 2,
			Containers: map[string]int{"running": 2, "exited": 1},
			Working:    map[Work]int{{WorkSync, WorkDesired, WorkStatic}: 2, {WorkTerminating, WorkRuntimeOnly, WorkUnknown}: 1},
		}
	})
	m.Sources(func() []api.SourceState {
		return []api.SourceState{
			{Name: "static", Kind: "file", Seen: true, LastRead: noon, Documents: 4, Bad: 1},
			{Name: "fleet", Kind: "http", Seen: true, Err: "timeout", LastRead: noon},
			{Name: "new", Kind: "http"},
		}
	})
	m.Waits(owners, func() []api.Waiting {
		running := inNamespace("a-web")
		return []api.Waiting{
			{Pod: inNamespace("default"), Verdict: api.Verdict{Answer: api.Hold}},
			{Pod: running, Running: running, Verdict: api.Verdict{Answer: api.Deny}},
			{Pod: running, Running: running, Suppressed: true, Verdict: api.Verdict{Answer: api.Hold}},
			{Pod: inNamespace("b-web"), Asked: &api.Asked{}},
		}
	}, func() []api.Conflict { return []api.Conflict{{Namespace: "b-web"}} })
	m.Policies(func() []api.PolicySet {
		return []api.PolicySet{
			{Ready: true, Generation: 3, Loaded: noon, Probation: &api.PolicyProbation{}, Policies: []api.PolicyState{{
				Name: "images", Mode: "enforce", Allowed: 5, Denied: 2, Held: 1, Abstained: 4, Failed: 1, Failures: map[string]uint64{"Trap": 1},
				Review: &api.PolicyReview{Violating: 7, Evicted: 5, Waiting: 6},
			}, {
				Name: "images", Mode: "shadow", Allowed: 3, Denied: 4, Failed: 9, Failures: map[string]uint64{"Trap": 9},
				Shadow: &api.PolicyShadow{Decisions: 7, Different: 2},
			}}},
			{Tenant: "a", Refused: "a.toml: wrong"},
		}
	})
	return m
}

func TestMetricsTellWhatHappened(t *testing.T) {
	t.Parallel()
	m := full()
	for prefix, want := range map[string][]string{
		"kubelet_pleg": {
			"kubelet_pleg_discard_events 3",
			"kubelet_pleg_last_seen_seconds 1.7673552005e+09",
			"kubelet_pleg_pod_relist_duration_seconds_sum 0.001", "kubelet_pleg_pod_relist_duration_seconds_count 1",
			"kubelet_pleg_relist_duration_seconds_sum 0.02", "kubelet_pleg_relist_duration_seconds_count 1",
			"kubelet_pleg_relist_interval_seconds_sum 60", "kubelet_pleg_relist_interval_seconds_count 1",
		},
		"wardlet_pleg": {"wardlet_pleg_event_lag_seconds_count 1", "wardlet_pleg_stream_losses_total 1", "wardlet_pleg_stream_up 1"},
		"kubelet_runtime": {
			`kubelet_runtime_operations_duration_seconds_sum{operation_type="start_container"} 2`,
			`kubelet_runtime_operations_duration_seconds_count{operation_type="start_container"} 2`,
			`kubelet_runtime_operations_errors_total{operation_type="start_container"} 1`,
			`kubelet_runtime_operations_total{operation_type="start_container"} 2`,
		},
		"kubelet_pod": {
			"kubelet_pod_start_duration_seconds_sum 3", "kubelet_pod_start_duration_seconds_count 1",
			"kubelet_pod_worker_start_duration_seconds_sum 1", "kubelet_pod_worker_start_duration_seconds_count 1",
			`kubelet_pod_worker_duration_seconds_sum{operation_type="create"} 3`, `kubelet_pod_worker_duration_seconds_count{operation_type="create"} 2`,
			`kubelet_pod_worker_duration_seconds_sum{operation_type="sync"} 1`, `kubelet_pod_worker_duration_seconds_count{operation_type="sync"} 1`,
		},
		"kubelet_terminated": {`kubelet_terminated_containers_total{container_type="container",exit_code="137",reason="OOMKilled"} 1`},
		"kubelet_graceful": {
			"kubelet_graceful_shutdown_end_time_seconds 1.7673552015e+09", "kubelet_graceful_shutdown_start_time_seconds 1.7673552005e+09",
		},
		"container_oom": {`container_oom_events_total{container="main",namespace="shop",pod="web"} 3`},
		"kubelet_cgroup": {
			"kubelet_cgroup_version 2",
			`kubelet_cgroup_manager_duration_seconds_sum{operation_type="create"} 1`, `kubelet_cgroup_manager_duration_seconds_count{operation_type="create"} 1`,
			`kubelet_cgroup_manager_duration_seconds_sum{operation_type="destroy"} 2`, `kubelet_cgroup_manager_duration_seconds_count{operation_type="destroy"} 1`,
		},
		"kubelet_preemptions": {`kubelet_preemptions{preemption_signal="memory"} 2`},
		"kubelet_containers":  {"kubelet_containers_per_pod_count_sum 6", "kubelet_containers_per_pod_count_count 2"},
		"kubelet_started": {
			`kubelet_started_containers_errors_total{code="ErrImagePull",container_type="container"} 1`,
			`kubelet_started_containers_total{container_type="container"} 1`,
			"kubelet_started_pods_errors_total 1", "kubelet_started_pods_total 2",
		},
		"kubelet_run_podsandbox_errors": {`kubelet_run_podsandbox_errors_total{runtime_handler=""} 1`},
		"kubelet_restarted":             {`kubelet_restarted_pods_total{static="true"} 1`},
		"kubelet_orphaned":              {"kubelet_orphaned_runtime_pods_total 1"},
		"kubelet_node":                  {`kubelet_node_name{node="edge"} 1`},
		"kubelet_running":               {`kubelet_running_containers{container_state="exited"} 1`, `kubelet_running_containers{container_state="running"} 2`, "kubelet_running_pods 2"},
		"kubelet_desired":               {`kubelet_desired_pods{static=""} 1`, `kubelet_desired_pods{static="true"} 3`},
		"kubelet_active":                {`kubelet_active_pods{static="true"} 2`},
		"kubelet_mirror":                {"kubelet_mirror_pods 1"},
		"kubelet_working": {
			`kubelet_working_pods{config="desired",lifecycle="sync",static="true"} 2`,
			`kubelet_working_pods{config="runtime_only",lifecycle="terminating",static="unknown"} 1`,
		},
		"wardlet_policy_verdict": {
			`wardlet_policy_verdict_duration_seconds_sum{hook="admit"} 0.001`, `wardlet_policy_verdict_duration_seconds_count{hook="admit"} 1`,
			`wardlet_policy_verdicts_total{hook="admit",tenant="a",verdict="deny"} 1`,
		},
		"wardlet_policy_fuel": {`wardlet_policy_fuel_total{policy="images",tenant="operator"} 700`, `wardlet_policy_fuel_total{policy="quota",tenant="a"} 20`, `wardlet_policy_fuel_total{policy="winners",tenant="a"} 5`},
		"wardlet_policy_opinions": {
			`wardlet_policy_opinions_total{mode="enforce",policy="images",tenant="operator",verdict="abstain"} 4`,
			`wardlet_policy_opinions_total{mode="enforce",policy="images",tenant="operator",verdict="allow"} 5`,
			`wardlet_policy_opinions_total{mode="enforce",policy="images",tenant="operator",verdict="deny"} 2`,
			`wardlet_policy_opinions_total{mode="enforce",policy="images",tenant="operator",verdict="hold"} 1`,
			`wardlet_policy_opinions_total{mode="shadow",policy="images",tenant="operator",verdict="allow"} 3`,
			`wardlet_policy_opinions_total{mode="shadow",policy="images",tenant="operator",verdict="deny"} 4`,
		},
		"wardlet_policy_failures":  {`wardlet_policy_failures_total{failure="Trap",policy="images",tenant="operator"} 1`},
		"wardlet_policy_violating": {`wardlet_policy_violating_pods{policy="images",tenant="operator"} 7`},
		"wardlet_policy_shadow": {
			`wardlet_policy_shadow_decisions{policy="images",tenant="operator"} 7`, `wardlet_policy_shadow_different{policy="images",tenant="operator"} 2`,
		},
		"wardlet_policy_evict": {
			`wardlet_policy_evicted_pods{policy="images",tenant="operator"} 5`, `wardlet_policy_evictions_waiting{policy="images",tenant="operator"} 6`,
		},
		"wardlet_policy_set": {
			`wardlet_policy_set_generation{tenant="operator"} 3`, `wardlet_policy_set_loaded_timestamp_seconds{tenant="operator"} 1.7673552005e+09`,
			`wardlet_policy_set_policies{tenant="operator"} 2`, `wardlet_policy_set_probation{tenant="operator"} 1`,
			`wardlet_policy_set_ready{tenant="operator"} 1`, `wardlet_policy_set_refused{tenant="a"} 1`,
		},
		"wardlet_waiting": {
			`wardlet_waiting_pods{tenant="b",wait="unjudged"} 1`, `wardlet_waiting_pods{tenant="operator",wait="held"} 1`,
			`wardlet_waiting_updates{tenant="a",wait="denied"} 1`, `wardlet_waiting_updates{tenant="a",wait="suppressed"} 1`,
		},
		"wardlet_conflicts": {`wardlet_conflicts{tenant="b"} 1`},
		"wardlet_events":    {`wardlet_events_total{tenant="a",type="Warning"} 1`},
		"wardlet_source": {
			`wardlet_source_bad_documents{kind="file",source="static"} 1`, `wardlet_source_documents{kind="file",source="static"} 4`,
			`wardlet_source_last_read_timestamp_seconds{kind="file",source="static"} 1.7673552005e+09`,
			`wardlet_source_last_read_timestamp_seconds{kind="http",source="fleet"} 1.7673552005e+09`,
			`wardlet_source_seen{kind="file",source="static"} 1`, `wardlet_source_seen{kind="http",source="fleet"} 1`,
			`wardlet_source_up{kind="file",source="static"} 1`,
		},
	} {
		got := slices.Sorted(slices.Values(values(t, m, prefix)))
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prefix, diff)
		}
	}
}

func TestWhatNobodyFeedsIsNotThere(t *testing.T) {
	t.Parallel()
	for _, line := range scrape(t, newMetrics()) {
		if !strings.Contains(line, "kubelet_node_name") && !strings.Contains(line, "wardlet_build_info") {
			t.Errorf("a new registry has %s", line)
		}
	}
}

// table returns the table of docs/metrics.md for the lines of a scrape.
func table(lines []string) string {
	type family struct {
		help, kind string
		labels     map[string]bool
	}
	families := map[string]*family{}
	of := func(name string) *family {
		if families[name] == nil {
			families[name] = &family{labels: map[string]bool{}}
		}
		return families[name]
	}
	var ordered []string
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			of(name).help = help
			ordered = append(ordered, name)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			of(name).kind = kind
			continue
		}
		name, rest, labelled := strings.Cut(line, "{")
		if !labelled {
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); families[base] != nil && families[base].kind == "histogram" {
				name = base
			}
		}
		inner, _, _ := strings.Cut(rest, "} ")
		for pair := range strings.SplitSeq(inner, ",") {
			if label, _, _ := strings.Cut(pair, "="); label != "le" {
				of(name).labels[label] = true
			}
		}
	}
	var out strings.Builder
	out.WriteString("| metric | type | labels | what |\n|---|---|---|---|\n")
	for _, name := range ordered {
		f := families[name]
		var labels []string
		for label := range f.labels {
			labels = append(labels, "`"+label+"`")
		}
		slices.Sort(labels)
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", name, f.kind, strings.Join(labels, ", "), f.help)
	}
	return out.String()
}

func TestTheDocumentListsEveryMetric(t *testing.T) {
	t.Parallel()
	m := full()
	lines := scrape(t, m)
	all := strings.Join(lines, "\n")
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	close(described)
	for d := range described {
		_, rest, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		if !strings.Contains(all, "# TYPE "+name+" ") && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is registered, and the test feeds nothing to it", name)
		}
	}

	const file, begin, end = "../../docs/metrics.md", "<!-- made by: go test ./core/metrics -update -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	had, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	want := table(lines)
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, had); diff != "" {
		t.Errorf("%s is not what there is (-want +got); write it anew with -update:\n%s", file, diff)
	}
}

func TestACollectorThatIsWrongIsLoggedAndTheRestIsTold(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	broken := describe(wardlet, "broken", "help", "label")
	m.add(func(tell tell) { tell.gauge(broken, 1, "too", "many") }, broken)
	if got := values(t, m, ""); len(got) < 2 || slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "wardlet_broken") }) {
		t.Errorf("lines: %q", got)
	}
	if _, err := m.registry.Gather(); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
