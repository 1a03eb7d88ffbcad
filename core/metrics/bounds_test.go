package metrics

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestATenantThatRenamesItsPoliciesMakesNoEndOfMetrics(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	name, mode := "", ""
	m.Policies(func() []api.PolicySet {
		return []api.PolicySet{
			{Policies: []api.PolicyState{{Name: "of-the-operator", Mode: "enforce", Allowed: 1}}},
			{Tenant: "a", Policies: []api.PolicyState{{
				Name: name, Mode: mode, Allowed: 1, Denied: 1, Held: 1, Abstained: 1, Failures: map[string]uint64{"Trap": 1, "BadOutput": 1},
			}}},
		}
	})
	v := m.Verdicts()
	most := 0
	for i := range 3000 {
		name, mode = "p"+strconv.Itoa(i), []string{"enforce", "warn", "audit"}[i%3]
		v.Verdict(api.HookAdmit, "a", string(api.Allow), 0, []api.Opinion{{Policy: name, Tenant: "a", Fuel: 1}})
		if i%100 == 0 || i > 2990 {
			most = len(values(t, m, "wardlet_policy_"))
		}
	}
	// Each of 33 names has at most 3 modes of 4 verdicts, 2 failures and its fuel.
	// Some metrics exist only once.
	if limit := (maxTenantPolicies + 1) * (3*4 + 2 + 1); most > limit+20 {
		t.Errorf("%d metrics, want at most %d", most, limit+20)
	}
	want := []string{`wardlet_policy_opinions_total{mode="enforce",policy="of-the-operator",tenant="operator",verdict="allow"} 1`}
	if diff := cmp.Diff(want, values(t, m, `wardlet_policy_opinions_total{mode="enforce",policy="of`)); diff != "" {
		t.Errorf("of the operator (-want +got):\n%s", diff)
	}
	if got := values(t, m, `wardlet_policy_fuel_total{policy="<other>"`); !slices.Equal(got, []string{`wardlet_policy_fuel_total{policy="<other>",tenant="a"} 2968`}) {
		t.Errorf("beyond the names that are told apart: %q", got)
	}
}

func TestWhatPoliciesCountedIsNotLostWithThem(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	var policies []api.PolicyState
	m.Policies(func() []api.PolicySet { return []api.PolicySet{{Policies: policies}} })
	for _, step := range []struct {
		name     string
		policies []api.PolicyState
		want     string
	}{
		{"it begins", []api.PolicyState{{Name: "p", Allowed: 3}}, "3"},
		{"nothing happens", []api.PolicyState{{Name: "p", Allowed: 3}}, "3"},
		{"it goes on", []api.PolicyState{{Name: "p", Allowed: 10}}, "10"},
		{"it is gone", nil, "10"},
		{"it is back, and counts from the beginning", []api.PolicyState{{Name: "p", Allowed: 2}}, "12"},
		{"it was gone unnoticed", []api.PolicyState{{Name: "p", Allowed: 1}}, "13"},
	} {
		policies = step.policies
		if got := values(t, m, "wardlet_policy_opinions_total"); len(got) != 1 || !strings.HasSuffix(got[0], " "+step.want) {
			t.Errorf("%s: %q, want %s", step.name, got, step.want)
		}
	}
}

func TestReasonsThatPluginsChooseAreOneReason(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	r := m.Rejections()
	for i := range 1000 {
		r.Rejected("Reason" + strconv.Itoa(i))
		r.Rejected("OutOfexample.com/gpu" + strconv.Itoa(i))
	}
	r.Rejected("OutOfcpu")
	r.Rejected("NodePorts")
	want := []string{
		`kubelet_admission_rejections_total{reason="NodePorts"} 1`,
		`kubelet_admission_rejections_total{reason="Other"} 1000`,
		`kubelet_admission_rejections_total{reason="OutOfExtendedResources"} 1000`,
		`kubelet_admission_rejections_total{reason="OutOfcpu"} 1`,
	}
	if diff := cmp.Diff(want, values(t, m, "kubelet_admission")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknownAnswersCodesAndResourcesAreBounded(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	v, w, r := m.Verdicts(), m.Workers(), m.Rejections()
	for i := range 1000 {
		r.Preempted("hugepages-\xff"+strconv.Itoa(i), 1)
		v.Verdict(api.HookFilter, "", "answer "+strconv.Itoa(i), time.Second, nil)
		w.NotStarted("code \xff" + strconv.Itoa(i))
	}
	want := []string{`wardlet_policy_verdicts_total{hook="filter",tenant="operator",verdict="<other>"} 1000`}
	if diff := cmp.Diff(want, values(t, m, "wardlet_policy_verdicts")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := values(t, m, "kubelet_started_containers_errors"); len(got) != maxCodes+1 {
		t.Errorf("%d codes are told apart, want %d and others", len(got), maxCodes)
	}
	if got := values(t, m, "kubelet_preemptions"); len(got) != maxSignals+1 {
		t.Errorf("%d resources are told apart, want %d and others", len(got), maxSignals)
	}
}

func TestExitCodesAndReasonsOfContainersAreBounded(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	ended := m.Terminations()
	for code := int32(-500); code < 1000; code++ {
		ended.Terminated(code, "Error")
		ended.Terminated(0, "reason \xff"+strconv.Itoa(int(code)))
	}
	got := values(t, m, "kubelet_terminated")
	if want := 256 + 1 + maxReasons; len(got) != want {
		t.Errorf("%d metrics, want %d", len(got), want)
	}
	want := `kubelet_terminated_containers_total{container_type="container",exit_code="<other>",reason="Error"} 1244`
	if !slices.Contains(got, want) {
		t.Errorf("there is no %s", want)
	}
}
