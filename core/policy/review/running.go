package review

import (
	"context"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// Running are the running pods. Its methods are called by one goroutine; all but Evict
// must not block.
type Running interface {
	// Pods returns, in no order, the admitted pods that were handed on and have not
	// terminated, without mirror pods and without pods that are being deleted.
	Pods() []RunningPod
	// Violates shows on a pod that it would not be admitted now; an empty message removes
	// that.
	Violates(p *v1.Pod, v Violation)
	// Tell emits a warning event about a pod.
	Tell(p *v1.Pod, reason, message string)
	// Judged receives the opinions about a pod.
	Judged(opinions []api.Opinion)
	// Evict terminates a running instance of a pod, and denies that instance with the
	// verdict from then on. If Evict returns nil, this is durable; else nothing happens.
	Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error
}

// RunningPod is a running pod, and the verdict that admitted it, nil for none.
type RunningPod struct {
	Pod     *v1.Pod
	Origin  api.Origin
	Verdict *api.Verdict
	// Rejected is the answer to the conflict of the pod, if that is ChooseNone, else nil.
	Rejected *api.Resolution
}

// Violation says why policies would not admit a running pod.
type Violation struct {
	// Reason is CamelCase. Message names the policies and the consequence.
	Reason, Message string
}

// Question returns the question whether the pod would be admitted as it runs.
func (r *RunningPod) Question() api.Question {
	q := api.Question{Op: api.Review, Pod: r.Pod, Old: r.Pod, Origin: r.Origin}
	if r.Verdict != nil {
		q.Base = r.Verdict.Mutation // the change that turned the document into the running pod
	}
	return q
}

// Options are what a Reviewer needs.
type Options struct {
	// Running are the running pods. Evictions stores how many were evicted, nil if nothing
	// does.
	Running   Running
	Evictions Evictions
	// Owners are the owners of policies, the operator first. Tenants is the number of
	// tenants.
	Owners  []*rollout.Owner
	Tenants int
	// Node is this node's name.
	Node   string
	Engine Engine
	Logger *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
}

// Engine asks policies. Its methods do not block.
type Engine interface {
	// TenantOf returns the name of the tenant that owns a namespace, empty for the operator.
	TenantOf(namespace string) string
	// IsExempt reports whether a pod is one of those that must be able to start.
	IsExempt(q *api.Question) bool
	// IsReady reports whether questions about a tenant's pods can be answered now: no set
	// is being loaded for the first time.
	IsReady(tenant string) bool
	// IsBehind reports whether too many decisions about a tenant's pods wait for the disk.
	IsBehind(tenant string) bool
	// Review asks the policies in force about a running pod. answer is called once, later,
	// from another goroutine. putOff is called before that if the question waits for the
	// tenant's budget.
	Review(run RunningPod, tenant string, answer func(api.Verdict), putOff func())
	// Present returns the pods on the node, each in its version; nil if they are not known.
	Present() map[types.UID]*v1.Pod
	// HasChanged reports whether policies that saw these references of a pod would see
	// other content now.
	HasChanged(by *v1.Pod, seen []api.SeenReference) bool
}
