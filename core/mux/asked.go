package mux

import (
	"github.com/wardlet/wardlet/core/api"
)

// Asked are the versions of pods about which policy, a filter or who decides a
// conflict is asked and has not answered yet, in the order they began to wait.
func (m *Mux) Asked() []api.Waiting {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []api.Waiting
	for _, w := range m.store.waiting() {
		asked := w.asked()
		if asked == nil {
			continue
		}
		x := api.Waiting{Pod: w.pod, Running: w.running(), Origin: w.origin()}
		if w.verdict != nil || w.suppressed() != nil {
			x = w.waiting()
		}
		x.Asked = asked
		all = append(all, x)
	}
	return all
}

// asked is the question about the wait that is under way, nil for none.
func (w *wait) asked() *api.Asked {
	held := w.suppressed()
	switch {
	case w.judged && w.unbased:
		return &api.Asked{Hook: api.HookMerge, Since: w.askedAt}
	case w.ticket != 0:
		return &api.Asked{Hook: api.HookAdmit, Since: w.askedAt}
	case held != nil && held.ticket != 0:
		return &api.Asked{Hook: api.HookFilter, Since: held.askedAt}
	}
	return nil
}
