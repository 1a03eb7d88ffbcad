package admission

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/preemption"
	schedulerframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/pod"
)

// answer is the decision about the pod of a world, and the pods that must be evicted for the pod.
type answer struct {
	admitted        bool
	reason, message string
	victims         []types.UID
}

func (a *answer) equal(b *answer) bool {
	return a.admitted == b.admitted && a.reason == b.reason && a.message == b.message && slices.Equal(a.victims, b.victims)
}

func (a *answer) String() string {
	return fmt.Sprintf("admitted %v, %s: %s, victims %q", a.admitted, a.reason, a.message, a.victims)
}

// theirs is a kubelet's answer.
func theirs(w *world) *answer {
	a := &answer{}
	kill := func(p *v1.Pod, _ bool, _ *int64, _ func(*v1.PodStatus)) error {
		a.victims = append(a.victims, p.UID)
		return nil
	}
	others := func() []*v1.Pod { return slices.Clone(w.others) }
	node := w.node.DeepCopy() // the handler sets a label
	handler := lifecycle.NewPredicateAdmitHandler(
		func(context.Context, bool) (*v1.Node, error) { return node, nil },
		preemption.NewCriticalPodAdmissionHandler(others, kill, &record.FakeRecorder{}),
		func(*schedulerframework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil },
	)
	r := handler.Admit(&lifecycle.PodAdmitAttributes{Pod: w.pod, OtherPods: others()})
	a.admitted, a.reason, a.message = r.Admit, r.Reason, r.Message
	return a
}

// ours is Wardlet's answer; static reports whether static pods are critical.
func ours(w *world, static bool) *answer {
	fit := admission.Fit{Node: func() *v1.Node { return w.node }, Critical: pod.Criticality{Static: static}}
	r := fit.Admit(&admission.Attributes{Pod: w.pod, Others: w.others})
	a := &answer{admitted: r.Admitted, reason: r.Reason, message: r.Message}
	if r.Preemption != nil {
		for _, p := range r.Preemption.Victims {
			a.victims = append(a.victims, p.UID)
		}
	}
	return a
}
