package mux

import "github.com/wardlet/wardlet/core/pod"

// Asked are the versions of pods about which policy, a filter or who decides a
// conflict is asked and has not answered yet, in the order they began to wait.
func (m *Mux) Asked() []pod.Waiting {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []pod.Waiting
	for _, w := range m.store.waiting() {
		asked := w.asked()
		if asked == nil {
			continue
		}
		x := pod.Waiting{Pod: w.pod, Running: w.running(), Origin: w.origin()}
		if w.verdict != nil || w.suppressed() != nil {
			x = w.waiting()
		}
		x.Asked = asked
		all = append(all, x)
	}
	return all
}

// asked is the question about the wait that is under way, nil for none.
func (w *wait) asked() *pod.Asked {
	held := w.suppressed()
	switch {
	case w.judged && w.unbased:
		return &pod.Asked{Hook: pod.HookMerge, Since: w.askedAt}
	case w.ticket != 0:
		return &pod.Asked{Hook: pod.HookAdmit, Since: w.askedAt}
	case held != nil && held.ticket != 0:
		return &pod.Asked{Hook: pod.HookFilter, Since: held.askedAt}
	}
	return nil
}
