package wasm

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// query is the question of a hook, in the form that paths and documents read.
type query struct {
	object, old *v1.Pod
	request     request
	// node holds facts only if nodeKnown is true.
	node       node
	nodeKnown  bool
	candidates []candidate
	texts      *pod.Texts
}

// setPod makes q a question about one pod.
func (q *query) setPod(hook Hook, r *Request) {
	about := r.Question
	q.object, q.old, q.texts = about.Pod, about.Old, r.Texts
	q.request = request{
		Hook: hook, Operation: about.Op, Source: about.Origin.Source, Kind: r.Kind, Document: about.Origin.Document,
		Replaces: string(about.Replaces), Tenant: r.Tenant, Time: r.Time.UnixMilli(), ClockSynchronized: r.ClockSynchronized,
		Connection: about.Connection, References: r.References,
	}
	if about.Op == api.UpdateOp {
		q.request.Changed = r.Changed
	}
}

// setMerge makes q a question about the documents that claim one pod.
func (q *query) setMerge(m *MergeRequest) {
	q.old, q.texts = m.Current, m.Texts
	q.request = request{
		Hook: HookMerge, Tenant: m.Tenant, Time: m.Time.UnixMilli(), ClockSynchronized: m.ClockSynchronized,
	}
	for i := range m.Candidates {
		q.candidates = append(q.candidates, m.Candidates[i].seen())
	}
}

// setNode sets the name of the node, and the facts about it. facts is nil if the
// plugin may not see any.
func (q *query) setNode(name string, facts *NodeFacts) {
	q.request.Node = name
	if facts != nil {
		q.node = node{Name: name, Labels: facts.Labels, Allocatable: facts.Allocatable, Pods: facts.Pods}
		q.nodeKnown = true
	}
}

// forget releases the question.
func (q *query) forget() {
	clear(q.candidates)
	*q = query{candidates: q.candidates[:0]}
}
