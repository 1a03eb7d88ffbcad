package agent

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

// meteredCgroups times what workers do with the cgroups of pods.
type meteredCgroups struct {
	podCgroups
	cgroups *metrics.Cgroups
}

// Ensure implements podCgroups.
func (c meteredCgroups) Ensure(p *v1.Pod) (parent string, err error) {
	began := time.Now()
	defer func() { c.cgroups.Created(time.Since(began)) }()
	return c.podCgroups.Ensure(p)
}

// End implements podCgroups.
func (c meteredCgroups) End(ctx context.Context, uid types.UID) error {
	began := time.Now()
	defer func() { c.cgroups.Destroyed(time.Since(began)) }()
	return c.podCgroups.End(ctx, uid)
}

// meteredAdmitter counts the pods that give way to others.
type meteredAdmitter struct {
	syncloop.Admitter
	// fit is that of the Admitter, for a node on which only its priority makes a pod
	// critical.
	fit        admission.Fit
	rejections *metrics.Rejections
}

// meteredAdmitter is the agent's admitter.
func (a *Agent) meteredAdmitter() syncloop.Admitter {
	return meteredAdmitter{a.admitter(), admission.Fit{Node: a.nodeNow}, a.meters.rejections}
}

// Admit implements syncloop.Admitter.
func (m meteredAdmitter) Admit(a *admission.Attributes) admission.Result {
	r := m.Admitter.Admit(a)
	if r.Admitted && r.Preemption != nil {
		m.rejections.Preempted(m.lacks(a), len(r.Preemption.Victims))
	}
	return r
}

// lacks is the first resource of which there is too little for a pod: what it would
// be refused for if nobody gave way to it.
func (m meteredAdmitter) lacks(a *admission.Attributes) string {
	humble, of := *a.Pod, *a
	humble.Spec.Priority = nil
	of.Pod = &humble
	return strings.TrimPrefix(m.fit.Admit(&of).Reason, "OutOf")
}
