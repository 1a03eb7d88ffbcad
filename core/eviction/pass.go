package eviction

import (
	"context"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// reasonThreshold is the reason of the node's event before something is reclaimed.
const reasonThreshold = "EvictionThresholdMet"

// hardGrace is the grace period, in seconds, of an eviction by a hard threshold.
const hardGrace = 1

// pass reads the state of the node, updates the conditions, and evicts at most one pod. It returns
// the pod, empty if no pod was evicted.
func (m *Manager) pass(ctx context.Context) (evicted types.UID) {
	m.forgetEnded()
	// Without thresholds, Limits still needs what Observe finds out about the file systems.
	seen := m.cfg.Node.Observe(ctx)
	if ctx.Err() != nil {
		return ""
	}
	due, conditions := m.state.advance(m.cfg.Thresholds, seen, m.cfg.Transition, m.cfg.Now())
	m.setConditions(conditions)
	// A threshold that is due because of an earlier pass may have no observation in this one.
	due = slices.DeleteFunc(due, func(i int) bool { _, known := seen[m.cfg.Thresholds[i].Signal]; return !known })
	if len(due) == 0 {
		m.said = ""
		return ""
	}
	t := &m.cfg.Thresholds[due[0]]
	m.cfg.NodeEvent(reasonThreshold, "Attempting to reclaim "+string(resourceOf(t.Signal)))
	if m.reclaimed(ctx, t) {
		m.cfg.Log.Info("removing what no pod needs was enough; no pod is evicted", "signal", string(t.Signal))
		return ""
	}
	return m.evictOne(ctx, t, seen[t.Signal])
}

// forgetEnded removes pods from evicted that have terminated. A static pod may come back under its UID.
func (m *Manager) forgetEnded() {
	if len(m.evicted) == 0 {
		return
	}
	active := map[types.UID]bool{}
	for _, p := range m.cfg.Pods.Active() {
		active[p.UID] = true
	}
	maps.DeleteFunc(m.evicted, func(uid types.UID, _ bool) bool { return !active[uid] })
}

// reclaimed frees resources of the node. It reports whether no threshold is known to be met after
// that, so that no pod must be evicted.
func (m *Manager) reclaimed(ctx context.Context, t *threshold.Threshold) bool {
	if m.cfg.Reclaim == nil || !m.containersHelp(t.Signal) {
		return false
	}
	if err := m.cfg.Reclaim.RemoveDeadContainers(ctx); err != nil {
		m.cfg.Log.Warn("dead containers cannot be removed under pressure", "signal", string(t.Signal), "err", err)
	}
	if err := m.cfg.Reclaim.RemoveUnusedImages(ctx); err != nil {
		m.cfg.Log.Warn("unused images cannot be removed under pressure", "signal", string(t.Signal), "err", err)
	}
	seen := m.cfg.Node.Observe(ctx)
	for i := range m.cfg.Thresholds {
		if isMet(&m.cfg.Thresholds[i], seen, true) {
			return false
		}
	}
	return true
}

// containersHelp reports whether removing containers and images frees what a signal measures. The
// writable layers of containers are on the file system of images.
func (m *Manager) containersHelp(s threshold.Signal) bool {
	switch s {
	case threshold.ImageFSAvailable, threshold.ImageFSInodesFree:
		return true
	case threshold.NodeFSAvailable, threshold.NodeFSInodesFree:
		return !m.cfg.Node.DedicatedImageFS()
	}
	return false
}

// evictOne evicts the first pod that is not critical. If that pod was evicted before and has not
// terminated yet, no other pod is evicted in its place.
func (m *Manager) evictOne(ctx context.Context, t *threshold.Threshold, o Observation) (evicted types.UID) {
	pods := m.cfg.Pods.Active()
	usage := m.cfg.Node.Usage(ctx, pods, t.Signal)
	if ctx.Err() != nil {
		return ""
	}
	for _, p := range rank(pods, usage, resourceOf(t.Signal), m.cfg.Tenant) {
		switch {
		case m.cfg.Critical(p):
			continue
		case m.evicted[p.UID]:
			m.once(string(p.UID), func() {
				m.cfg.Log.Warn("a pod that was evicted has not terminated yet", "pod", p.Namespace+"/"+p.Name, "uid", p.UID)
			})
			return ""
		}
		why, annotations := message(p, t, o, usage[p.UID])
		m.evict(p, t, why, annotations)
		return p.UID
	}
	m.once("critical", func() { m.cfg.Log.Warn("no pod can be evicted: all that run are critical") })
	return ""
}

func (m *Manager) evict(p *v1.Pod, t *threshold.Threshold, why string, annotations map[string]string) {
	grace := int64(hardGrace)
	if !t.Hard() {
		grace = m.cfg.MaxPodGrace
		if own := p.Spec.TerminationGracePeriodSeconds; own != nil {
			grace = min(grace, *own)
		}
	}
	m.cfg.Log.Warn("pod is evicted", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "signal", string(t.Signal), "grace_seconds", grace)
	m.said = ""
	m.evicted[p.UID] = true
	if m.cfg.Evicted != nil {
		m.cfg.Evicted(t.Signal)
	}
	m.cfg.Pods.Evict(p, grace, why, annotations)
}

// once calls log if nothing was evicted for another reason before, or for none.
func (m *Manager) once(reason string, log func()) {
	if m.said != reason {
		m.said = reason
		log()
	}
}
