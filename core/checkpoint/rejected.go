package checkpoint

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// rejected is an outcome that a caller waits for.
type rejected struct {
	uid  types.UID
	kept func()
}

// Rejected implements syncloop.Outcomes. It does not block: Run writes the outcome at once.
func (o *Outcomes) Rejected(p *v1.Pod, st *v1.PodStatus, kept func()) {
	o.mu.Lock()
	l, err := o.lifeOf(p)
	if err != nil {
		o.mu.Unlock()
		o.log.Error("the rejection of a pod is not saved", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
		kept()
		return
	}
	defer o.mu.Unlock()
	o.set(p, &l, status.Outcome(p, st), nil)
	o.awaited = append(o.awaited, rejected{p.UID, kept})
	select {
	case o.urgent <- struct{}{}:
	default:
	}
}

// writeAwaited writes the outcomes that callers wait for. If a write fails, Run tries it again, but
// no caller waits for the retry.
func (o *Outcomes) writeAwaited() {
	o.mu.Lock()
	awaited := o.awaited
	o.awaited = nil
	o.mu.Unlock()
	for _, r := range awaited {
		o.kept.Write(r.uid)
		r.kept()
	}
}
