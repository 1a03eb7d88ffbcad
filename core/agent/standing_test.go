package agent

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// says is a gate with one answer.
type says struct {
	mux.Gate
	verdict pod.Verdict
}

func (g says) Judge(_ pod.Question, answer func(pod.Verdict)) { answer(g.verdict) }

// forbids refuses pods that bear a label.
type forbids struct{}

func (forbids) Admit(a *admission.Attributes) admission.Result {
	if a.Pod.Labels["forbidden"] == "" {
		return admission.Result{Admitted: true}
	}
	return admission.Result{Reason: "SysctlForbidden", Message: "the label says so"}
}

func TestANewerVersionOfAPodThatRunsNeedsTheNodesConsent(t *testing.T) {
	t.Parallel()
	allow, deny := pod.Verdict{Answer: pod.Allow, Sets: []string{"s1"}}, pod.Verdict{Answer: pod.Deny, Reason: "PolicyDenied", Policy: "p"}
	for name, tc := range map[string]struct {
		op        pod.Op
		forbidden bool
		policies  pod.Verdict
		answer    pod.Answer
		reason    string
	}{
		"what the node lets through passes":      {pod.UpdateOp, false, allow, pod.Allow, ""},
		"what it refuses is denied":              {pod.UpdateOp, true, allow, pod.Deny, "SysctlForbidden"},
		"what policy denies is policy's denial":  {pod.UpdateOp, true, deny, pod.Deny, "PolicyDenied"},
		"a new pod is for the admitter to judge": {pod.Add, true, allow, pod.Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{}
			if tc.forbidden {
				p.Labels = map[string]string{"forbidden": "yes"}
			}
			var got pod.Verdict
			standing{says{verdict: tc.policies}, forbids{}, time.Now}.Judge(pod.Question{Op: tc.op, Pod: p}, func(v pod.Verdict) { got = v })
			if got.Answer != tc.answer || got.Reason != tc.reason {
				t.Errorf("verdict %+v", got)
			}
			if got.Reason == "SysctlForbidden" && (got.Message == "" || got.At.IsZero() || len(got.Sets) != 1) {
				t.Errorf("verdict %+v", got)
			}
		})
	}
}

func TestStanding_apiPodKeepsWhatItIsMadeFrom(t *testing.T) {
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
			var got pod.Verdict
			standing{open{}, forbids{}, time.Now}.Judge(pod.Question{Op: pod.UpdateOp, Pod: edited, Old: old}, func(v pod.Verdict) { got = v })
			want := pod.Allow
			if tc.reason != "" {
				want = pod.Deny
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
