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

// gates returns the gate that the mux asks. An answer of the policies passes these layers
// in their order, and nothing else changes it:
//
//	paced         makes the denial of a pod that a controller makes again and again a held
//	              one; a part of policy.Engine, so that the record has it
//	counted       changes nothing
//	nodeChecked   makes the allowed edit a denied one, if the node refuses it
//	supported     denies, without asking, what this version does not do for an API server's pod
//	adopted       makes the denied version of a pod that runs a held one; answers itself
//	              for what ran before the agent started
//
// The mux writes the answer to the disk before it takes effect.
func (n *Node) gates() mux.Gate {
	if n.policies == nil {
		return gate.Through(gate.Open{}, n.nodeChecked, n.supported)
	}
	return gate.Through(n.policies, n.counted, n.nodeChecked, n.supported, n.adopted)
}

// supported lets through what this version does for pods; other agents than nodes of a cluster have no pods that it
// is about.
func (n *Node) supported(next mux.Gate) mux.Gate {
	if n.member == nil {
		return next
	}
	paced := &pacing.Pacing{Tenant: func(namespace string) string {
		tenant, _, _ := priorities(n.cfg.Tenants)(namespace)
		return tenant
	}}
	pace := paced.Pace
	if !n.cfg.Policy.DenyPacing {
		pace = func(_ *api.Question, v api.Verdict, _ time.Time) api.Verdict { return v }
	}
	return gate.Supported{Gate: next, Check: manifest.Unsupported, Pace: pace, Now: time.Now}
}

func (n *Node) counted(next mux.Gate) mux.Gate {
	return instrument.Gate{Gate: next, Meters: n.meters}
}

// nodeChecked asks those of the admitter's checks that need no room.
func (n *Node) nodeChecked(next mux.Gate) mux.Gate {
	return gate.NodeChecks{Gate: next, Checks: admission.Chain{n.priorities(), n.sysctls(), admission.AppArmor("/")}, Now: time.Now}
}

func (n *Node) adopted(next mux.Gate) mux.Gate {
	n.adoption.Gate = next
	return n.adoption
}

// judge adds to the mux's configuration what judges pods. It asks parts of the agent.
func (n *Node) judge(a *Agent, c *mux.Config) error {
	if err := n.wirePolicies(a); err != nil {
		return err
	}
	c.Gate, c.Filter, c.UpdatesOnly = n.gates(), n.filter(), n.policies == nil && n.member == nil
	if n.policies != nil {
		c.Resolver, c.Resolutions = instrument.Resolver{Resolver: n.policies.Rules().Telling(n.meters.Verdicts.Spent), Meters: n.meters}, n.state.Resolutions()
	}
	return nil
}

// filter returns what may hold updates back, nil for an agent without policies.
func (n *Node) filter() mux.Filter {
	if n.policies == nil {
		return nil
	}
	return &gate.Filter{Policies: instrument.Filter{Policies: n.policies, Meters: n.meters}, Adoption: n.adoption}
}
