package instrument

import (
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/syncloop"
)

// PodCgroups are the cgroups of pods; see node.Cgroups.
type PodCgroups interface {
	Ensure(p *v1.Pod) (parent string, err error)
	End(ctx context.Context, uid types.UID) error
}

// Cgroups measures the time of workers' operations on the cgroups of pods.
type Cgroups struct {
	PodCgroups
	Metrics *metrics.Cgroups
}

// Ensure implements worker.Cgroups.
func (c Cgroups) Ensure(p *v1.Pod) (parent string, err error) {
	began := time.Now()
	defer func() { c.Metrics.Created(time.Since(began)) }()
	return c.PodCgroups.Ensure(p)
}

// Remove implements worker.Cgroups. It kills the remaining processes in the cgroup.
func (c Cgroups) Remove(ctx context.Context, uid types.UID) error {
	began := time.Now()
	defer func() { c.Metrics.Destroyed(time.Since(began)) }()
	return c.End(ctx, uid)
}

// Admitter counts the pods that are preempted.
type Admitter struct {
	syncloop.Admitter
	// Fit is the Fit of the Admitter, except that only its priority makes a pod critical.
	Fit        admission.Fit
	Rejections *metrics.Rejections
}

// Admit implements syncloop.Admitter.
func (m Admitter) Admit(a *admission.Attributes) admission.Result {
	r := m.Admitter.Admit(a)
	if r.Admitted && r.Preemption != nil {
		m.Rejections.Preempted(m.lacks(a), len(r.Preemption.Victims))
	}
	return r
}

// lacks returns the first resource of which there is too little for a pod, and for which the pod
// would be refused without preemption.
func (m Admitter) lacks(a *admission.Attributes) string {
	humble, of := *a.Pod, *a
	humble.Spec.Priority = nil
	of.Pod = &humble
	return strings.TrimPrefix(m.Fit.Admit(&of).Reason, "OutOf")
}
