package pod

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	base := func() *v1.Pod {
		return &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"a": "b", AnnotationSource: "local"}},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Limits: v1.ResourceList{"cpu": resource.MustParse("1")}}}}},
		}
	}
	for _, tc := range []struct {
		rule   string
		change func(*v1.Pod)
		want   Fields
	}{
		{"nothing", func(*v1.Pod) {}, 0},
		{"spec", func(p *v1.Pod) { p.Spec.Containers[0].Image = "i" }, FieldSpec},
		{"the same quantity, written differently", func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1000m")
		}, 0},
		{"labels", func(p *v1.Pod) { p.Labels["a"] = "c" }, FieldLabels},
		{"annotations", func(p *v1.Pod) { p.Annotations["x"] = "" }, FieldAnnotations},
		{"config.hash counts", func(p *v1.Pod) { p.Annotations[AnnotationHash] = "x" }, FieldAnnotations},
		{"config.source, seen and mirror do not", func(p *v1.Pod) {
			p.Annotations[AnnotationSource], p.Annotations[AnnotationSeen], p.Annotations[AnnotationMirror] = "x", "y", "z"
		}, 0},
		{"deletion", func(p *v1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0))) }, FieldDeletionTimestamp},
		{"grace", func(p *v1.Pod) { p.DeletionGracePeriodSeconds = new(int64(1)) }, FieldDeletionGracePeriod},
		{"status", func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }, FieldStatus},
		{"other metadata does not count", func(p *v1.Pod) {
			p.ResourceVersion, p.Generation, p.Finalizers = "7", 7, []string{"x"}
		}, 0},
		{"several", func(p *v1.Pod) { p.Labels, p.Status.Phase = nil, v1.PodRunning }, FieldLabels | FieldStatus},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			after := base()
			tc.change(after)
			if got := Diff(base(), after); got != tc.want {
				t.Errorf("Diff = %b, want %b", got, tc.want)
			}
			if got, want := Meaningful(tc.want), tc.want != 0 && tc.want != FieldStatus; got != want {
				t.Errorf("Meaningful(%b) = %v", tc.want, got)
			}
		})
	}
	if got := Diff(nil, base()); got != 0 {
		t.Errorf("Diff with nil = %b", got)
	}
}

func TestGatesChanged(t *testing.T) {
	t.Parallel()
	with := func(conditions ...v1.PodCondition) *v1.Pod {
		return &v1.Pod{
			Spec:   v1.PodSpec{ReadinessGates: []v1.PodReadinessGate{{ConditionType: "a/gate"}}},
			Status: v1.PodStatus{Conditions: conditions},
		}
	}
	gate := func(status v1.ConditionStatus) v1.PodCondition {
		return v1.PodCondition{Type: "a/gate", Status: status}
	}
	other := v1.PodCondition{Type: "b", Status: v1.ConditionTrue}
	for name, test := range map[string]struct {
		old, next *v1.Pod
		want      bool
	}{
		"opens":            {with(gate("False")), with(gate("True")), true},
		"is there first":   {with(), with(gate("False")), true},
		"goes":             {with(gate("True")), with(), true},
		"stays":            {with(gate("True")), with(gate("True"), other), false},
		"of no pod before": {nil, with(gate("True")), true},
		"none":             {&v1.Pod{}, &v1.Pod{Status: v1.PodStatus{Conditions: []v1.PodCondition{other}}}, false},
	} {
		if got := GatesChanged(test.old, test.next); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
