package probe

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// results are the probe results, by container ID.
type results struct {
	mu sync.Mutex
	of map[string]containerResults
	// changes is the number of changes of all results.
	changes uint64
}

// containerResults are the results of one container of a pod.
type containerResults struct {
	pod                          types.UID
	startup, liveness, readiness status.ProbeResult
}

func (c *containerResults) by(kind Kind) *status.ProbeResult {
	switch kind {
	case Startup:
		return &c.startup
	case Liveness:
		return &c.liveness
	default:
		return &c.readiness
	}
}

// set stores a result and reports whether it differs from the previous one. If ctx is done it
// stores nothing, because the pod may be forgotten already.
func (r *results) set(ctx context.Context, uid types.UID, id string, kind Kind, result status.ProbeResult) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	c := r.of[id]
	c.pod = uid
	if *c.by(kind) == result {
		return false
	}
	*c.by(kind) = result
	r.of[id] = c
	r.changes++
	return true
}

func (r *results) get(id string) containerResults {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}

// drop forgets one container.
func (r *results) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, id)
}

func (r *results) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.of, func(_ string, c containerResults) bool { return c.pod == uid })
}

// Started returns the result of the startup probe of a container.
func (m *Manager) Started(id string) status.ProbeResult { return m.results.get(id).startup }

// Ready returns the result of the readiness probe of a container.
func (m *Manager) Ready(id string) status.ProbeResult { return m.results.get(id).readiness }

// Failed returns the failed probe that requires a restart of a container, in words; empty for none.
func (m *Manager) Failed(id string) string {
	switch c := m.results.get(id); {
	case c.startup == status.ProbeFailed:
		return status.FailedStartup
	case c.liveness == status.ProbeFailed:
		return status.FailedLiveness
	}
	return ""
}

// Changes returns how often results have changed. If the number is the same before and after a
// caller has read results, these are current.
func (m *Manager) Changes() uint64 {
	m.results.mu.Lock()
	defer m.results.mu.Unlock()
	return m.results.changes
}

// due are the pods whose workers have to act on a result.
type due struct {
	mu   sync.Mutex
	uids map[types.UID]bool
	wake chan struct{}
}

func (d *due) add(uid types.UID) {
	d.mu.Lock()
	d.uids[uid] = true
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default: // the pending wake-up takes all
	}
}

// Due returns a channel that has a value when TakeDue has pods.
func (m *Manager) Due() <-chan struct{} { return m.due.wake }

// TakeDue removes and returns the pods whose workers have to act on a result.
func (m *Manager) TakeDue() []types.UID {
	m.due.mu.Lock()
	defer m.due.mu.Unlock()
	all := slices.Collect(maps.Keys(m.due.uids))
	clear(m.due.uids)
	return all
}
