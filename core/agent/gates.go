package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/admission/gate"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/mux"
)

// gates returns the gate that the mux asks. An answer of the policies, which pace denials
// that repeat, passes these layers in their order, and nothing else changes it:
//
//	counted       changes nothing
//	nodeChecked   makes the allowed edit a denied one, if the node refuses it
//	adopted       makes the denied version of a pod that runs a held one; answers itself
//	              for what ran before the agent started
//
// The mux writes the answer to the disk before it takes effect.
func (a *Agent) gates() mux.Gate {
	if a.policies == nil {
		return gate.Through(gate.Open{}, a.nodeChecked)
	}
	return gate.Through(a.policies, a.counted, a.nodeChecked, a.adopted)
}

func (a *Agent) counted(next mux.Gate) mux.Gate {
	return instrument.Gate{Gate: next, Meters: a.meters}
}

// nodeChecked asks those of the admitter's checks that need no room.
func (a *Agent) nodeChecked(next mux.Gate) mux.Gate {
	return gate.NodeChecks{Gate: next, Checks: admission.Chain{a.priorities(), a.sysctls(), admission.AppArmor("/")}, Now: time.Now}
}

func (a *Agent) adopted(next mux.Gate) mux.Gate {
	a.adoption.Gate = next
	return a.adoption
}

// filter returns what may hold updates back, nil for an agent without policies.
func (a *Agent) filter() mux.Filter {
	if a.policies == nil {
		return nil
	}
	return &gate.Filter{Policies: instrument.Filter{Policies: a.policies, Meters: a.meters}, Adoption: a.adoption}
}
