package abi

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Query is the question of a hook, in the form that paths and documents read.
type Query struct {
	object, old *v1.Pod
	request     request
	// node holds facts only if nodeKnown is true.
	node       node
	nodeKnown  bool
	candidates []candidate
	texts      *pod.Texts
}

// SetPod makes q a question about one pod. may are the capabilities of the policy.
func (q *Query) SetPod(hook Hook, r *Request, may CapabilitySet) {
	about := r.Question
	q.object, q.old, q.texts = about.Pod, about.Old, r.Texts
	q.request = request{
		Hook: hook, Operation: about.Op, Source: about.Origin.Source, Kind: r.Kind, Document: about.Origin.Document,
		Replaces: string(about.Replaces), Tenant: r.Tenant, Time: r.Time.UnixMilli(), ClockSynchronized: r.ClockSynchronized,
		Connection: about.Connection,
	}
	if may.References {
		q.request.References = r.References
	}
	if about.Op == api.UpdateOp {
		q.request.Changed = r.Changed
	}
}

// SetMerge makes q a question about the documents that claim one pod.
func (q *Query) SetMerge(m *MergeRequest) {
	q.old, q.texts = m.Current, m.Texts
	q.request = request{
		Hook: HookMerge, Tenant: m.Tenant, Time: m.Time.UnixMilli(), ClockSynchronized: m.ClockSynchronized,
	}
	for i := range m.Candidates {
		q.candidates = append(q.candidates, m.Candidates[i].seen())
	}
}

// SetNode sets the name of the node, and the facts about it, which may be nil.
func (q *Query) SetNode(name string, facts *NodeFacts, may CapabilitySet) {
	q.request.Node = name
	if facts != nil && may.Node {
		q.node = node{Name: name, Labels: facts.Labels, Allocatable: facts.Allocatable, Pods: facts.Pods}
		q.nodeKnown = true
	}
}

// Reset releases the question.
func (q *Query) Reset() {
	clear(q.candidates)
	*q = Query{candidates: q.candidates[:0]}
}
