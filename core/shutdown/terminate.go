package shutdown

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// The final status of a pod that is terminated by a shutdown, in a kubelet's words.
const (
	reasonTerminated  = "Terminated"
	messageTerminated = "Pod was terminated in response to imminent node shutdown."
)

// releasePeriod is the interval at which stopped pods are checked for volumes that are still
// mounted.
const releasePeriod = 100 * time.Millisecond

// terminatePods terminates all pods, those of the lowest group first, until ctx ends.
func (m *Manager) terminatePods(ctx context.Context) {
	times := state.Shutdown{Began: m.cfg.Now()}
	m.storeTimes(times)
	requested := map[types.UID]bool{}
	for group := range m.cfg.Periods {
		m.terminateGroup(ctx, group, requested)
		if ctx.Err() != nil {
			return
		}
	}
	times.Ended = m.cfg.Now()
	m.storeTimes(times)
	m.cfg.Log.Info("the machine may shut down now", "pods", len(requested), "took", times.Ended.Sub(times.Began))
}

// terminateGroup terminates the pods of a group, and those of lower groups that were not yet
// requested to terminate, because they have started since. It waits until nothing of them is left,
// at most for the period of the group.
func (m *Manager) terminateGroup(ctx context.Context, group int, requested map[types.UID]bool) {
	period := m.cfg.Periods[group].Period
	var uids []types.UID
	var stopped []<-chan struct{}
	for _, p := range m.cfg.Pods.Active() {
		if requested[p.UID] || groupOf(m.cfg.Periods, m.cfg.Priority(p)) > group {
			continue
		}
		requested[p.UID] = true
		uids = append(uids, p.UID)
		stopped = append(stopped, m.cfg.Pods.Terminate(p, grace(p, period), finishStatus))
	}
	if len(uids) == 0 {
		return
	}
	m.cfg.Log.Info("pods terminate because the machine shuts down", "pods", len(uids), "priority", m.cfg.Periods[group].Priority, "period", period)
	ctx, cancel := context.WithTimeout(ctx, period)
	defer cancel()
	for _, done := range stopped {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
	m.awaitRelease(ctx, uids)
}

// awaitRelease waits until nothing of the pods is left, at most until ctx ends.
func (m *Manager) awaitRelease(ctx context.Context, uids []types.UID) {
	tick := time.NewTicker(releasePeriod)
	defer tick.Stop()
	for _, uid := range uids {
		for !m.cfg.Pods.Released(uid) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// grace returns the grace period of a pod: its own, at most period.
func grace(p *v1.Pod, period time.Duration) time.Duration {
	own := p.Spec.TerminationGracePeriodSeconds
	if own != nil && *own <= int64(period/time.Second) {
		return time.Duration(max(*own, 0)) * time.Second
	}
	return period
}

// finishStatus sets the final status of a pod: it failed, unless it has succeeded.
func finishStatus(st *v1.PodStatus) {
	if st.Phase != v1.PodSucceeded {
		st.Phase = v1.PodFailed
	}
	st.Reason, st.Message = reasonTerminated, messageTerminated
	status.SetDisruptionTarget(st, messageTerminated)
}

// restoreTimes reports the shutdown that an earlier agent has seen.
func (m *Manager) restoreTimes() {
	times, err := m.cfg.Times.Load()
	if err != nil {
		m.cfg.Log.Warn("the times of the last shutdown are not known", "err", err)
		return
	}
	m.observe(times)
}

func (m *Manager) storeTimes(times state.Shutdown) {
	if err := m.cfg.Times.Store(times); err != nil {
		m.cfg.Log.Warn("the times of this shutdown are not stored", "err", err)
	}
	m.observe(times)
}

func (m *Manager) observe(times state.Shutdown) {
	if m.cfg.Observer != nil {
		m.cfg.Observer.Shutdown(times.Began, times.Ended)
	}
}
