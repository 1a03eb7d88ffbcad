package policy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestARecordNamesAllThatTheDecisionDependedOn(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("sees", "deny No: never", `capabilities = ["node.read"]`)
	d.Policy("blind", "allow")
	log, closeAll := policytest.RecordsIn(t, filepath.Join(t.TempDir(), "state"))
	c := testConfig(d, s)
	c.Records, c.Version, c.Tenants = log, "v1", []Tenant{{Name: "a", Owns: func(ns string) bool { return ns == "shop" }, FuelPerSecond: 1 << 40}}
	c.Facts = &Node{Is: func() (labels, allocatable map[string]string) { return map[string]string{"zone": "1"}, nil }, Pods: func() []NodePod { return nil }}
	c.ClockSynchronized = func() bool { return true }
	p := New(c)
	stop := run(t, p)
	q := policytest.Question("web", func(q *api.Question) {
		q.Op = api.UpdateOp
		q.Old = policytest.SomePod("web", func(p *v1.Pod) { p.Spec.Containers[0].Image = "old" })
		q.Pod.Status.Phase = v1.PodRunning
	})
	v := ask(t, p, q)
	stop()
	records, err := log.Newest(10)
	policytest.Must(t, err)
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	r := &records[0]
	if r.Tenant != "a" || r.ID != "tenant-a-1" || !r.ClockSynchronized || r.Agent != "v1" || r.Node != "node-1" || r.Kind != "file" ||
		r.Default != api.Allow || !slices.Equal(r.Changed, eval.Changes(&q)) || !r.Verdict.At.Equal(v.At) || len(r.Changed) == 0 {
		t.Errorf("record %+v", r)
	}
	for digest, part := range map[string]string{r.Pod: `"image":"img"`, r.Old: `"image":"old"`, r.Policies[1].NodeFacts: `"zone":"1"`} {
		text, err := log.Input("a", digest)
		if err != nil || !strings.Contains(string(text), part) || strings.Contains(string(text), "Running") {
			t.Errorf("document %q, %v; want one with %s", text, err, part)
		}
	}
	if r.Policies[0].NodeFacts != "" {
		t.Error("a policy that may not see the node saw it")
	}
	for i, name := range []string{"blind", "sees"} {
		x := &r.Policies[i]
		document, err := log.PolicyFile(x.Document)
		policytest.Must(t, err)
		module, err := log.PolicyFile(x.Module)
		policytest.Must(t, err)
		if x.Name != name || !strings.Contains(string(document), name+".wasm") || len(module) == 0 || x.Fuel != spec.DefaultFuel || x.MemoryPages != 64 {
			t.Errorf("policy %+v, document %q, module %q", x, document, module)
		}
	}
	closeAll()
}
