package admission

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// The differences by their IDs in docs/differences.md.
const (
	noRoomIsAShortage   = "no-room-is-a-shortage"
	moreThanANodeHas    = "more-than-a-node-has"
	shortagesByName     = "shortages-by-name"
	staticIsNotCritical = "static-is-not-critical"
)

var differences = []string{moreThanANodeHas, noRoomIsAShortage, shortagesByName, staticIsNotCritical}

// compare returns the IDs of the differences that explain why Wardlet's answer to a world is not a
// kubelet's. Wardlet is shown seen, the kubelet w. known is false if listed differences do not
// explain everything.
func compare(w, seen *world) (ids []string, known bool) {
	kubelet, as := theirs(w), ours(seen, true)
	id, known := explained(w, kubelet, as)
	if !known {
		return nil, false
	}
	if id != "" {
		ids = append(ids, id)
	}
	own := ours(seen, false)
	switch {
	case own.equal(as):
		return ids, true
	case !slices.ContainsFunc(append(slices.Clone(w.others), w.pod), static) || !shortage(own) && !own.admitted:
		return nil, false
	}
	return append(ids, staticIsNotCritical), true
}

// explained returns the ID of the difference that explains two answers, empty if they are equal.
// known is false if no listed difference explains them.
func explained(w *world, kubelet, our *answer) (id string, known bool) {
	const noSet = "preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: "
	const noUse = "; it would not fit even if all pods ended that give way to it"
	switch {
	case kubelet.equal(our):
		return "", true
	case kubelet.reason == "UnexpectedAdmissionError" && strings.Contains(kubelet.message, noSet) &&
		shortage(our) && strings.HasSuffix(our.message, noUse):
		return noRoomIsAShortage, true
	case kubelet.admitted && len(kubelet.victims) > 0 && shortage(our) && strings.HasSuffix(our.message, noUse) && !theirs(empty(w)).admitted:
		return moreThanANodeHas, true
	}
	// A kubelet walks through a map in random order, so sometimes its answer is Wardlet's.
	for range 100 {
		if theirs(w).equal(our) {
			return shortagesByName, true
		}
	}
	return "", false
}

// empty returns a world with the same node and pod, and no other pods on the node.
func empty(w *world) *world { return &world{node: w.node, pod: w.pod} }

func static(p *v1.Pod) bool { return pod.IsStatic(p) || pod.IsMirror(p) }

// shortage reports whether a pod is refused only because the node lacks resources.
func shortage(a *answer) bool { return !a.admitted && strings.HasPrefix(a.reason, "OutOf") }
