package gate

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// says is a gate that always returns the same verdict.
type says struct {
	mux.Gate
	verdict api.Verdict
}

func (g says) Judge(_ api.Question, answer func(api.Verdict)) { answer(g.verdict) }

// forbids rejects pods that have the label "forbidden".
type forbids struct{}

func (forbids) Admit(a *admission.Attributes) admission.Result {
	if a.Pod.Labels["forbidden"] == "" {
		return admission.Result{Admitted: true}
	}
	return admission.Result{Reason: "SysctlForbidden", Message: "the label says so"}
}

func TestANewerVersionOfAPodThatRunsNeedsTheNodesConsent(t *testing.T) {
	t.Parallel()
	allow, deny := api.Verdict{Answer: api.Allow, Sets: []string{"s1"}}, api.Verdict{Answer: api.Deny, Reason: "PolicyDenied", Policy: "p"}
	for name, tc := range map[string]struct {
		op        api.Op
		forbidden bool
		policies  api.Verdict
		answer    api.Answer
		reason    string
	}{
		"what the node lets through passes":      {api.UpdateOp, false, allow, api.Allow, ""},
		"what it refuses is denied":              {api.UpdateOp, true, allow, api.Deny, "SysctlForbidden"},
		"what policy denies is policy's denial":  {api.UpdateOp, true, deny, api.Deny, "PolicyDenied"},
		"a new pod is for the admitter to judge": {api.Add, true, allow, api.Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{}
			if tc.forbidden {
				p.Labels = map[string]string{"forbidden": "yes"}
			}
			var got api.Verdict
			NodeChecks{says{verdict: tc.policies}, forbids{}, time.Now}.Judge(api.Question{Op: tc.op, Pod: p}, func(v api.Verdict) { got = v })
			if got.Answer != tc.answer || got.Reason != tc.reason {
				t.Errorf("verdict %+v", got)
			}
			if got.Reason == "SysctlForbidden" && (got.Message == "" || got.At.IsZero() || len(got.Sets) != 1) {
				t.Errorf("verdict %+v", got)
			}
		})
	}
}

func TestNodeChecks_apiPodKeepsWhatItIsMadeFrom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source string
		edit   func(p *v1.Pod)
		reason string
	}{
		"its resources": {pod.SourceAPI, func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Limits = v1.ResourceList{"memory": resource.MustParse("1Mi")}
		}, "NotInPlace"},
		"its image":              {pod.SourceAPI, func(p *v1.Pod) { p.Spec.Containers[0].Image = "web:2" }, ""},
		"its tolerations":        {pod.SourceAPI, func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: "a"}} }, ""},
		"its labels":             {pod.SourceAPI, func(p *v1.Pod) { p.Labels = map[string]string{"a": "b"} }, ""},
		"a static one's command": {"file", func(p *v1.Pod) { p.Spec.Containers[0].Command = []string{"a"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "web:1"}}}}
			old.Annotations = map[string]string{pod.AnnotationSource: tc.source}
			edited := old.DeepCopy()
			tc.edit(edited)
			var got api.Verdict
			NodeChecks{Open{}, forbids{}, time.Now}.Judge(api.Question{Op: api.UpdateOp, Pod: edited, Old: old}, func(v api.Verdict) { got = v })
			want := api.Allow
			if tc.reason != "" {
				want = api.Deny
			}
			if got.Answer != want || got.Reason != tc.reason {
				t.Errorf("verdict %+v", got)
			}
			if tc.reason != "" && got.Message != "spec.containers[0].resources cannot change while the pod runs: delete the pod and create it anew" {
				t.Errorf("message %q", got.Message)
			}
		})
	}
}
