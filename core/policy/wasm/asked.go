package wasm

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// asked is what a hook is asked: what paths and documents are about.
type asked struct {
	object, old *v1.Pod
	request     request
	// node holds facts only where nodeKnown says so.
	node       node
	nodeKnown  bool
	candidates []candidate
	texts      *pod.Texts
}

// judge asks about one pod.
func (q *asked) judge(hook Hook, r *Request) {
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

// choose asks about those that claim one pod.
func (q *asked) choose(m *MergeRequest) {
	q.old, q.texts = m.Current, m.Texts
	q.request = request{
		Hook: HookMerge, Tenant: m.Tenant, Time: m.Time.UnixMilli(), ClockSynchronized: m.ClockSynchronized,
	}
	for i := range m.Candidates {
		q.candidates = append(q.candidates, m.Candidates[i].seen())
	}
}

// on adds what is known of the node; facts is nil where the plugin may see
// none.
func (q *asked) on(name string, facts *NodeFacts) {
	q.request.Node = name
	if facts != nil {
		q.node = node{Name: name, Labels: facts.Labels, Allocatable: facts.Allocatable, Pods: facts.Pods}
		q.nodeKnown = true
	}
}

// forget lets go of what was asked.
func (q *asked) forget() {
	clear(q.candidates)
	*q = asked{candidates: q.candidates[:0]}
}
