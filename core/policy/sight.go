package policy

import (
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// sight is what a decision sees of the node.
type sight struct {
	labels   map[string]string
	capacity map[string]string
	pods     []wasm.NodePod
	// shown is what of it policies were shown, by their owner.
	shown map[string]*wasm.NodeFacts
}

// of is what the policies of an owner see: those of a tenant only its own pods.
func (s *sight) of(tenant string, owns func(namespace string) string) *wasm.NodeFacts {
	if s == nil {
		return nil
	}
	if f := s.shown[tenant]; f != nil {
		return f
	}
	f := &wasm.NodeFacts{Labels: s.labels, Allocatable: s.capacity, Pods: s.pods}
	if tenant != "" {
		f.Pods = slices.DeleteFunc(slices.Clone(s.pods), func(p wasm.NodePod) bool { return owns(p.Namespace) != tenant })
	}
	s.shown[tenant] = f
	return f
}

// again is the same sight for somebody else, beside whom others may still be shown theirs;
// nil for nil.
func (s *sight) again() *sight {
	if s == nil {
		return nil
	}
	return &sight{labels: s.labels, capacity: s.capacity, pods: s.pods, shown: map[string]*wasm.NodeFacts{}}
}
