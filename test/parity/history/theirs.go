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

// said is what one side made of one delivery.
type said struct {
	entries []entry
	// empty: it said with an ADD of no pods that the source was read.
	empty bool
	// first is set on our side where it says that the source was read.
	first bool
}

// operations are a kubelet's by our names.
var operations = map[kubetypes.PodOperation]api.Op{
	kubetypes.REMOVE: api.Remove, kubetypes.ADD: api.Add, kubetypes.UPDATE: api.UpdateOp,
	kubetypes.DELETE: api.Delete, kubetypes.RECONCILE: api.Reconcile,
}

// ofKubelet takes a kubelet's updates apart. They come one per operation, in
// order.
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

// seenBetween checks the time a kubelet wrote on a pod when it was first seen.
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
