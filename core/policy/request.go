package policy

import (
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// request is what the policies of a decision are asked: all of them the same.
func (p *Plane) request(q *api.Question, tenant string, now time.Time) *wasm.Request {
	return &wasm.Request{
		Question: q, Kind: p.cfg.Kinds[q.Origin.Source], Tenant: tenant, Changed: changes(q),
		Time: now, ClockSynchronized: p.cfg.clockSynchronized(), Texts: &pod.Texts{},
	}
}

// testRequest is what a policy is asked in a test of its own: at a time that is
// always the same and known to be right, about a pod from a file, or of the
// first kind of sources that the policy names; known is what there is of the objects that the pod names.
func (p *policy) testRequest(q *api.Question, at time.Time, known []api.Reference) *wasm.Request {
	kind := api.KindFile
	if named := p.Match.Sources; len(named) > 0 && !slices.Contains(named, kind) {
		kind = named[0]
	}
	references, _ := referencesOf(q.Pod, known)
	return &wasm.Request{Question: q, Kind: kind, Changed: changes(q), Time: at, Node: &wasm.NodeFacts{}, References: references, ClockSynchronized: true}
}
