package policy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestThePlaneHandsTheFinalPodOnAndShowsWhoChangedIt(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow", policytest.LabelsPath)
		d.Policy("b", "quota 5", `capabilities = ["node.read"]`)
		s.Edit = func(policy string, r *wasm.Result) {
			if policy == "a" {
				r.Patch = []byte(policytest.ToLabel("by", "a"))
			}
		}
		var here []NodePod
		p, _ := listed(t, d, s, func(c *Config) {
			c.Facts = &Node{Pods: func() []NodePod { return here }, Wanted: func(types.UID, string) bool { return true }}
		})
		run(t, p)
		q := policytest.FileQuestion(t)
		instance, err := pod.Instance(q.Pod)
		policytest.Must(t, err)
		first := ask(t, p, q)
		if m := first.Mutation; m == nil || m.Final.Labels["by"] != "a" || m.Instance != instance {
			t.Fatalf("verdict %+v", first)
		}
		// Until the node reports the pod, its mutated version counts.
		other := policytest.FileQuestion(t, func(q *api.Question) { q.Pod = q.Pod.DeepCopy(); q.Pod.UID = "other" })
		ask(t, p, other)
		seen := s.Requests["b"].Node.Pods
		if len(seen) != 1 || seen[0].Labels["by"] != "a" {
			t.Errorf("on the node are %+v", seen)
		}
		here = []NodePod{{first.Mutation.Final, "static"}}
		ask(t, p, other)
		if seen := s.Requests["b"].Node.Pods; len(seen) != 2 {
			t.Errorf("then on the node are %+v", seen)
		}
		on := p.Decisions()
		if m := on[0].Verdict.Mutation; m == nil || m.Final != nil || m.By[0].Policy != "a" || m.Instance != instance {
			t.Errorf("on record: %+v", m)
		}
	})
}

func TestPluginsOfWebAssemblyChangePods(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("mirror", string(wasmtest.Patching(0, policytest.ToImage("mirror.example/web:1"))), policytest.ImagePath)
	d.Policy("reaching", string(wasmtest.Patching(0, policytest.ToImage("evil"))), policytest.LabelsPath, `on_error = "allow"`)
	d.Policy("images", string(wasmtest.Denying("object.spec.containers[*].image", "img")), "priority = 0")
	p := New(sandboxed(t, d))
	run(t, p)
	v := ask(t, p, policytest.FileQuestion(t))
	if v.Answer != api.Allow || v.Mutation == nil || v.Mutation.Final.Spec.Containers[0].Image != "mirror.example/web:1" {
		t.Fatalf("verdict %+v", v)
	}
	if by := v.Mutation.By; len(by) != 1 || by[0].Policy != "mirror" {
		t.Errorf("changed by %+v", by)
	}
	if o := v.Opinions[1]; o.Policy != "reaching" || o.Failure != string(abi.BadOutput) {
		t.Errorf("opinion %+v", o)
	}
	v = ask(t, p, policytest.FileQuestion(t, policytest.OfAPI(t)))
	if o := v.Opinions[0]; v.Answer != api.Deny || v.Policy != "images" || v.Mutation != nil ||
		o.Failure != string(abi.BadOutput) || !strings.Contains(o.Message, "policy.mutate_api") {
		t.Errorf("a pod of an API server, which may not be changed: %+v", v)
	}
}
