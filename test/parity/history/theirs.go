package history

import (
	"fmt"
	"time"

	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/parity/kubelet"
)

// rank is the order of operations in one delivery.
var rank = map[api.Op]int{
	api.Restore: 0, api.Remove: 1, api.Add: 2, api.UpdateOp: 3, api.Delete: 4, api.Reconcile: 5,
}

// said are the operations that one side reported for one delivery.
type said struct {
	entries []entry
	// empty reports whether the side sent an ADD without pods because the source was read.
	empty bool
	// first is set only on our side, if the mux reported that the source was read.
	first bool
}

// operations maps a kubelet's operations to our names.
var operations = map[kubetypes.PodOperation]api.Op{
	kubetypes.REMOVE: api.Remove, kubetypes.ADD: api.Add, kubetypes.UPDATE: api.UpdateOp,
	kubetypes.DELETE: api.Delete, kubetypes.RECONCILE: api.Reconcile,
}

// ofKubelet splits a kubelet's updates into entries. There is one update per operation, in order.
func ofKubelet(updates []kubelet.Update) (said, error) {
	var out said
	last := 0
	for _, u := range updates {
		op := operations[u.Op]
		switch {
		case len(u.Pods) == 0 && op == api.Add && !out.empty:
			out.empty = true
			continue
		case len(u.Pods) == 0 || rank[op] <= last:
			return out, fmt.Errorf("the kubelet said %s of %d pods, out of order", op, len(u.Pods))
		}
		last = rank[op]
		for _, p := range u.Pods {
			out.entries = append(out.entries, entry{op, key{u.Source, p.UID}, p})
		}
	}
	return out, nil
}

// seenBetween checks the first-seen time that a kubelet wrote on a pod.
func (e *entry) seenBetween(from, to time.Time, before *held) error {
	text := e.pod.Annotations[pod.AnnotationSeen]
	if before != nil && e.op != api.Add {
		if was := before.added.Annotations[pod.AnnotationSeen]; text != was {
			return fmt.Errorf("the kubelet says %s was first seen %q and before that %q", e.key.uid, text, was)
		}
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Before(from.Truncate(0)) || at.After(to) {
		return fmt.Errorf("the kubelet says %s was first seen %q, not between %v and %v", e.key.uid, text, from, to)
	}
	return nil
}
