package pleg

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// The differences from a kubelet, by their IDs in docs/differences.md.
const (
	requestInspects   = "request-inspects"
	requestSeesGone   = "request-sees-gone"
	failureKeepsLast  = "failure-keeps-last"
	addressesOutliveE = "addresses-outlive-failure"
)

var predicates = []string{requestInspects, requestSeesGone, failureKeepsLast, addressesOutliveE}

// known is the past state that the predicates of the differences need.
type known struct {
	// good is the result of our last successful inspection of each pod.
	good map[types.UID]view
	// failed are the pods with a failed inspection since their sandbox was last seen ready.
	failed map[types.UID]bool
	// alone are the pods whose inspection failed only on our side, because they were asked about
	// although they had not changed.
	alone map[types.UID]bool
	// wereAlone are the pods that were in alone at some time since the last list.
	wereAlone map[types.UID]bool
}

func newKnown() known {
	return known{
		good: map[types.UID]view{}, failed: map[types.UID]bool{},
		alone: map[types.UID]bool{}, wereAlone: map[types.UID]bool{},
	}
}

// note records the state of each pod. asked reports whether pods may have been asked about since
// the last call of note.
func (k *known) note(c *comparison, asked bool) {
	alone := map[types.UID]bool{}
	for _, uid := range c.pods {
		v := c.ours.get(uid)
		_, err := c.theirs.cache.Get(uid)
		if v.failed && err == nil && (k.alone[uid] || asked && c.asked[uid]) {
			alone[uid], k.wereAlone[uid] = true, true
		}
		switch {
		case v.failed:
			k.failed[uid] = true
			continue
		case v.ready() || len(v.containers)+len(v.sandboxes) == 0:
			delete(k.failed, uid)
		}
		k.good[uid] = v
	}
	k.alone = alone
}

func (v view) ready() bool {
	return slices.ContainsFunc(v.sandboxes, func(s part) bool { return s.state == status.StateRunning })
}

// same compares the state that both sides have of a pod.
func (k *known) same(uid types.UID, theirs, ours view, t *tally) error {
	if ours.failed && !theirs.failed && k.alone[uid] {
		t.use(requestInspects)
		return nil
	}
	if theirs.failed != ours.failed {
		return fmt.Errorf("a kubelet has %s, wardlet %s", theirs, ours)
	}
	if ours.failed {
		// A kubelet returns only the error; Wardlet also returns the last seen state.
		last, shown := k.good[uid], ours
		shown.failed = false
		if last.String() != shown.String() {
			return fmt.Errorf("beside the error wardlet has %s, last seen was %s", shown, last)
		}
		if len(last.containers)+len(last.sandboxes) > 0 {
			t.use(failureKeepsLast)
		}
		return nil
	}
	if k.failed[uid] && !ours.ready() && len(theirs.addresses) == 0 && len(ours.addresses) > 0 {
		t.use(addressesOutliveE)
		if !slices.Equal(ours.addresses, k.good[uid].addresses) {
			return fmt.Errorf("wardlet has addresses %v, last seen were %v", ours.addresses, k.good[uid].addresses)
		}
		ours.addresses = nil
	}
	if theirs.String() != ours.String() {
		return fmt.Errorf("a kubelet has %s, wardlet %s", theirs, ours)
	}
	return nil
}
