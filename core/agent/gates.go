package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/admission/gate"
	"github.com/wardlet/wardlet/core/admission/pacing"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/mux"
)

// gates returns the gate that the mux asks. A question passes these layers from the last to the
// first, and the answer of the policies passes them from the first to the last:
//
//	pacing        turns the denial of a pod that a controller creates again and again into a
//	              hold; a part of policy.Engine, so that the record has it
//	counted       changes nothing
//	nodeChecked   turns an allowed edit into a denial if the node refuses it
//	supported     denies, and asks no policy, what this version cannot run of an API server's pod
//	adopted       turns the denial of a pod that runs into a hold, and answers itself for what ran
//	              before the agent started
//
// After them only the mux changes an answer (core/mux/gate.go): it adds what a merge policy made of
// the document to the mutation, and holds a pod whose verdict cannot be written to the disk. Later
// verdicts are new questions, or evictions by core/policy/review.
func (n *Node) gates() mux.Gate {
	if n.policies == nil {
		return gate.Through(gate.Open{}, n.nodeChecked, n.supported)
	}
	return gate.Through(n.policies, n.counted, n.nodeChecked, n.supported, n.adopted)
}

// supported denies pods of an API server that this version cannot run. An agent that is no node of
// a cluster has no such layer.
func (n *Node) supported(next mux.Gate) mux.Gate {
	if n.member == nil {
		return next
	}
	unsupported := &pacing.Pacing{Tenant: func(namespace string) string {
		tenant, _, _ := priorities(n.cfg.Tenants)(namespace)
		return tenant
	}}
	pace := unsupported.Pace
	if !n.cfg.Policy.DenyPacing {
		pace = func(_ *api.Question, v api.Verdict, _ time.Time) api.Verdict { return v }
	}
	return gate.Supported{Gate: next, Check: manifest.Unsupported, Pace: pace, Now: time.Now}
}

func (n *Node) counted(next mux.Gate) mux.Gate {
	return instrument.Gate{Gate: next, Meters: n.meters}
}

// nodeChecked applies the checks of the admitter that do not depend on free room.
func (n *Node) nodeChecked(next mux.Gate) mux.Gate {
	return gate.NodeChecks{Gate: next, Checks: admission.Chain{n.priorities(), n.sysctls(), admission.AppArmor("/")}, Now: time.Now}
}

func (n *Node) adopted(next mux.Gate) mux.Gate {
	n.adoption.Gate = next
	return n.adoption
}

// wireJudging adds to the mux's configuration the parts that judge pods: the gates, the filter and
// the resolver.
func (n *Node) wireJudging(a *Agent, c *mux.Config) error {
	if err := n.wirePolicies(a); err != nil {
		return err
	}
	c.Gate, c.Filter, c.UpdatesOnly = n.gates(), n.filter(), n.policies == nil && n.member == nil
	if n.policies != nil {
		c.Resolver, c.Resolutions = instrument.Resolver{Resolver: n.policies.Rules().Telling(n.meters.Verdicts.Spent), Meters: n.meters}, n.state.Resolutions()
	}
	return nil
}

// filter returns the filter that may hold updates back, nil for an agent without policies.
func (n *Node) filter() mux.Filter {
	if n.policies == nil {
		return nil
	}
	return &gate.Filter{Policies: instrument.Filter{Policies: n.policies, Meters: n.meters}, Adoption: n.adoption}
}
