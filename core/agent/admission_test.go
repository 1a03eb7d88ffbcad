package agent

import (
	"log/slog"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/test/site"
)

var (
	_ syncloop.Outcomes = (*checkpoint.Outcomes)(nil)
	_ syncloop.Statuses = shownStatuses{}
)

// named returns a pod of a source. An empty source stands for a pod without a known source.
func named(namespace, name, source string) *v1.Pod {
	p := &v1.Pod{}
	p.Namespace, p.Name, p.UID = namespace, name, types.UID(name)
	if source != "" {
		p.Annotations = map[string]string{pod.AnnotationSource: source, pod.AnnotationHash: "h"}
	}
	return p
}

func TestTheOperatorNamesCriticalPodsAsTheirManifestsDo(t *testing.T) {
	t.Parallel()
	c := criticality(&config.Config{Node: config.Node{Critical: []string{"shop/dns", "shop/web-edge"}}}, "edge")
	for name, test := range map[string]struct {
		pod  *v1.Pod
		want bool
	}{
		"as written":                            {named("shop", "dns-edge", "static"), true},
		"as on the node":                        {named("shop", "web-edge", "static"), true},
		"not another one":                       {named("shop", "db-edge", "static"), false},
		"not in another namespace":              {named("home", "dns-edge", "static"), false},
		"a pod of an API server":                {named("shop", "dns", pod.SourceAPI), true},
		"not one that only looks like a static": {named("shop", "dns-edge", pod.SourceAPI), false},
	} {
		if got := c.Critical(test.pod); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if !criticality(&config.Config{Node: config.Node{StaticPodsAreCritical: true}}, "edge").Critical(named("shop", "db-edge", "static")) {
		t.Error("static pods are not critical where they should be")
	}
}

func TestThePriorityOfATenantIsThatOfTheNamespace(t *testing.T) {
	t.Parallel()
	of := priorities([]config.Tenant{{Name: "a", Namespaces: []string{"a", "a-*"}, MaxPriority: 5}, {Name: "b", Namespaces: []string{"b"}, MaxPriority: -1}})
	for namespace, want := range map[string]struct {
		tenant  string
		highest int32
		ok      bool
	}{"a-1": {"a", 5, true}, "b": {"b", -1, true}, "c": {}} {
		tenant, highest, ok := of(namespace)
		if tenant != want.tenant || highest != want.highest || ok != want.ok {
			t.Errorf("%s: %q, %d, %v; want %+v", namespace, tenant, highest, ok, want)
		}
	}
}

func TestAnAgentHasBegunWithAPodThatHasADirectory(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Paths.PodRoot = t.TempDir()
	a := &Node{cfg: cfg}
	if a.begun("u1") {
		t.Error("there is nothing of it yet")
	}
	if err := os.MkdirAll(parts.Layout(cfg).PodDir("u1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !a.begun("u1") || a.begun("u2") {
		t.Error("the directory is not found")
	}
}

func TestTheOrderInWhichAPodIsJudged(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", nil)
	n.Cfg.Node.Labels = []string{"site=north"}
	n.Cfg.Tenants = []config.Tenant{{Name: "a", Namespaces: []string{"shop"}, MaxPriority: 5}}
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	// At first every check rejects the pod. Each step then mends one fault.
	p := named("shop", "web-edge", "static")
	p.Status.Phase = v1.PodPending
	p.Spec.Priority, p.Spec.NodeSelector = new(int32(6)), map[string]string{"site": "south"}
	p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"memory": resource.MustParse("9Ei")}}}}
	p.Spec.SecurityContext = &v1.PodSecurityContext{
		Sysctls:         []v1.Sysctl{{Name: "kernel.panic", Value: "1"}},
		AppArmorProfile: &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost},
	}
	asked := &admission.Attributes{Pod: p, Verdict: &api.Verdict{Answer: api.Deny, Reason: "Why"}}
	chain := a.admitter()
	for _, step := range []struct {
		reason string
		mend   func()
	}{
		{"Why", func() { asked.Verdict = nil }},
		{"PriorityTooHigh", func() { p.Spec.Priority = nil }},
		{"SysctlForbidden", func() { p.Spec.SecurityContext.Sysctls = nil }},
		{"OutOfmemory", func() { p.Spec.Containers[0].Resources.Requests = nil }},
		{"NodeAffinity", func() { p.Spec.NodeSelector["site"] = "north" }},
		{"AppArmor", func() { p.Spec.SecurityContext.AppArmorProfile = nil }},
		{"", func() {}},
	} {
		if r := chain.Admit(asked); r.Reason != step.reason || r.Admitted != (step.reason == "") {
			t.Errorf("%q: %s, want %q", r.Reason, r.Message, step.reason)
		}
		step.mend()
	}
}
