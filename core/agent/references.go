package agent

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/policy"
)

// references are what policies may know of the objects that pods name. The mux is made later.
type references struct {
	*object.Plane

	mux func() *mux.Mux
}

// Refused implements policy.References.
func (r references) Refused() []policy.RefusedPod {
	refused := r.mux().Refused()
	pods := make([]policy.RefusedPod, len(refused))
	for i := range refused {
		pods[i] = policy.RefusedPod(refused[i])
	}
	return pods
}

// JudgeAgain implements policy.References.
func (r references) JudgeAgain(uids []types.UID) { r.mux().JudgeAgain(uids) }
