package agent

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// rejected is an outcome that somebody waits for.
type rejected struct {
	uid   types.UID
	entry *outcomeEntry
	kept  func()
}

// Rejected implements syncloop.Outcomes. It does not block: run writes it, at once.
func (o *outcomes) Rejected(p *v1.Pod, st *v1.PodStatus, kept func()) {
	o.mu.Lock()
	l, err := o.lifeOf(p)
	if err != nil {
		o.mu.Unlock()
		o.log.Error("that a pod was rejected is not kept", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
		kept()
		return
	}
	defer o.mu.Unlock()
	e := o.entries[p.UID]
	if e == nil {
		e = &outcomeEntry{}
		o.entries[p.UID] = e
	}
	e.claimed, e.dirty = true, true
	e.kept = &state.Outcome{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Status: status.Outcome(st)}
	l.mark(e.kept)
	o.awaited = append(o.awaited, rejected{p.UID, e, kept})
	select {
	case o.urgent <- struct{}{}:
	default:
	}
}

// writeAwaited writes what somebody waits for. A disk that does not take it is tried
// again, and nobody waits for that.
func (o *outcomes) writeAwaited() {
	o.mu.Lock()
	awaited := o.awaited
	o.awaited = nil
	o.mu.Unlock()
	for _, r := range awaited {
		if !o.write(r.uid, r.entry) {
			o.poke()
		}
		r.kept()
	}
}
