package pod

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestInstanceIsWhatPolicyJudgesOnce(t *testing.T) {
	t.Parallel()
	static := func(change func(*v1.Pod)) *v1.Pod { return instancePod("static", change) }
	api := func(change func(*v1.Pod)) *v1.Pod { return instancePod(SourceAPI, change) }
	for _, c := range []struct {
		name   string
		of     func(func(*v1.Pod)) *v1.Pod
		change func(*v1.Pod)
		same   bool
	}{
		{"a default that a newer agent adds makes no other instance of a static pod", static, func(p *v1.Pod) { p.Spec.SchedulerName = "x" }, true},
		{"another text makes another instance of a static pod", static, func(p *v1.Pod) { p.Annotations[AnnotationHash] = "h2" }, false},
		{"another UID makes another instance of a static pod", static, func(p *v1.Pod) { p.UID = "u2" }, false},
		{"the spec of an API pod counts", api, func(p *v1.Pod) { p.Spec.Containers[0].Image = "evil" }, false},
		{"the labels of an API pod count", api, func(p *v1.Pod) { p.Labels = map[string]string{"a": "b"} }, false},
		{"the annotations of an API pod count", api, func(p *v1.Pod) { p.Annotations["x"] = "y" }, false},
		{"what only this node writes does not", api, func(p *v1.Pod) { p.Annotations[AnnotationSeen] = "now" }, true},
		{"a config.hash that a user wrote on an API pod does not stand for its content", api, func(p *v1.Pod) { p.Spec.HostNetwork = true }, false},
		{"status does not", api, func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }, true},
		{"nor does a deletion", api, func(p *v1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before, after := mustInstance(t, c.of(nil)), mustInstance(t, c.of(c.change))
			if (before == after) != c.same {
				t.Errorf("instances %s and %s, want same: %v", before, after, c.same)
			}
			if len(before) != 32 {
				t.Errorf("instance %q, want 32 digits", before)
			}
		})
	}
}

func TestFinalHashTellsWhatAPodWasMadeFrom(t *testing.T) {
	t.Parallel()
	before, err := FinalHash(instancePod("static", nil))
	if err != nil {
		t.Fatal(err)
	}
	after, err := FinalHash(instancePod("static", func(p *v1.Pod) { p.Spec.Containers[0].Image = "mutated" }))
	if err != nil {
		t.Fatal(err)
	}
	if before == after || before == mustInstance(t, instancePod("static", nil)) {
		t.Errorf("final hashes %s and %s of different objects, instance %s", before, after, mustInstance(t, instancePod("static", nil)))
	}
}

func instancePod(source string, change func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "default", UID: "u1",
			Annotations: map[string]string{AnnotationSource: source, AnnotationHash: "h1"},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "web:1"}}},
	}
	if change != nil {
		change(p)
	}
	return p
}

func mustInstance(t *testing.T, p *v1.Pod) string {
	t.Helper()
	instance, err := Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	return instance
}
