package policy

import (
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	// maxDecisions is how many decisions are kept.
	maxDecisions = 500
	// maxDecisionText bounds what plugins wrote into them, in bytes: where
	// they write much, fewer are kept.
	maxDecisionText = 4 << 20
)

// decisions are the newest ones. It is safe for concurrent use.
type decisions struct {
	mu   sync.Mutex
	list []pod.Decision // by Last, newest last
	text int
}

// add records a decision. One that is equal to another (the same instance,
// operation and verdict) raises that one's count.
func (d *decisions) add(n pod.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range slices.Backward(d.list) {
		if old := &d.list[i]; repeats(old, &n) {
			n.First, n.Count = old.First, old.Count+1
			d.remove(i)
			break
		}
	}
	d.list = append(d.list, n)
	d.text += textOf(&n.Verdict)
	for len(d.list) > maxDecisions || d.text > maxDecisionText && len(d.list) > 1 {
		d.remove(0)
	}
}

func (d *decisions) remove(i int) {
	d.text -= textOf(&d.list[i].Verdict)
	d.list = slices.Delete(d.list, i, i+1)
}

// newest is a copy of the decisions, newest last.
func (d *decisions) newest() []pod.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

func repeats(old, n *pod.Decision) bool {
	return n.Instance != "" && old.Instance == n.Instance && old.UID == n.UID && old.Hook == n.Hook && old.Op == n.Op &&
		old.Replaces == n.Replaces && old.Verdict.Same(&n.Verdict)
}

// textOf is the length of what plugins wrote into a verdict.
func textOf(v *pod.Verdict) int {
	n := len(v.Message)
	for i := range v.Opinions {
		o := &v.Opinions[i]
		n += len(o.Message) + len(o.Explanation)
		for _, w := range o.Warnings {
			n += len(w)
		}
		for key, value := range o.Annotations {
			n += len(key) + len(value)
		}
	}
	return n
}
