package syncloop

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// housekeep makes the workers match the wanted pods even if an event was missed. It removes workers
// that are finished or whose pod is gone, starts those that are missing, and looks for running pods
// that no source wants.
func (l *Loop) housekeep(ctx context.Context) {
	l.createMissingWorkers(l.cfg.Workers.SyncKnownPods(l.wanted))
	l.forgetTerminated()
	if l.relisting || len(l.orphans()) == 0 {
		return
	}
	// The last list may be out of date: list again before terminating anything.
	l.relisting = true
	l.helpers.Go(func() { l.relisted <- l.cfg.PLEG.Relist(ctx) })
}

// createMissingWorkers starts a worker for each pod that should have one and has none.
func (l *Loop) createMissingWorkers(workers map[types.UID]worker.State) {
	defer l.finishBatch()
	maps.DeleteFunc(l.preemptedEarly, func(uid types.UID, _ bool) bool { return !l.wanted(uid) })
	for uid, m := range l.pods.all() {
		_, has := workers[uid]
		_, arrives := l.pendingPreemptors[uid]
		switch {
		case has, arrives, m.recreated:
		case l.active(m):
			l.cfg.Log.Info("pod had no worker; it has one now", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid, "source", m.origin.Source)
			l.queueStart(m, true)
		}
	}
	l.admitRecreated()
}

// killOrphans terminates the pods that run without a worker or a source, after a new list. err is
// the error of that list.
func (l *Loop) killOrphans(err error) {
	l.relisting = false
	if err != nil {
		if l.unlisted.Due("", err.Error(), l.cfg.Now()) {
			l.cfg.Log.Warn("orphaned pods stay until the runtime can be listed", "err", err)
		}
		return
	}
	if l.unlisted.Over() {
		l.cfg.Log.Info("the runtime can be listed again")
	}
	for _, s := range l.orphans() {
		l.cfg.Log.Info("pod runs but no source has it; terminating it",
			"pod", s.Namespace+"/"+s.Name, "uid", s.UID, "source", s.Source)
		l.terminating[s.UID] = time.Time{}
		l.cfg.Workers.KillOrphan(&s)
	}
}

// orphans returns the pods without a worker that may be terminated, because the source that each
// was made for does not want it. As in unwanted, whether that source is ready is checked first.
func (l *Loop) orphans() []worker.Orphan {
	var orphans []worker.Orphan
	for _, s := range l.cfg.Workers.Orphans() {
		if l.sources.ready(s.Source) && !l.cfg.Desired.WantedBy(s.UID, s.Source) && !l.pods.has(s.UID) {
			orphans = append(orphans, s)
		}
	}
	return orphans
}

// wanted reports whether the pod should run: the mux wants it, or the set contains it because the
// loop has not received its removal yet.
func (l *Loop) wanted(uid types.UID) bool {
	return l.cfg.Desired.Wanted(uid) || l.pods.has(uid)
}

// unwanted reports whether it is known that the pod should not run. It checks the source first: a
// snapshot that arrives between the two checks must not make its own pods look unwanted.
func (l *Loop) unwanted(uid types.UID, source string) bool {
	return l.sources.ready(source) && !l.wanted(uid)
}

// Removable reports whether everything that a pod left on the node may be removed: dead containers,
// sandboxes, logs, directories, cgroup. source is the source named in the pod's sandbox, empty if
// unknown. It may be called from any goroutine.
func (l *Loop) Removable(uid types.UID, source string) bool {
	return (l.unwanted(uid, source) || l.notStarted(uid)) && l.cfg.Workers.ContentRemovable(uid)
}

// notStarted reports whether a pod waits for room, or until nothing is left of the earlier pod with
// its UID. What is on the node under the UID belongs to an earlier pod and would be taken for part
// of this one.
func (l *Loop) notStarted(uid types.UID) bool {
	m, _ := l.pods.get(uid)
	waits := m.rejected && pod.IsStatic(m.pod) && !refused(m.verdict)
	return (waits || m.recreated) && !l.cfg.Workers.Has(uid)
}

// sources records which sources are ready. A source is ready once the loop has handled its first
// snapshot. That the mux has the snapshot is not enough: the loop may not have received its
// removals yet.
type sources struct {
	configured []string
	desired    Desired

	mu      sync.RWMutex
	handled map[string]bool
}

func newSources(configured []string, desired Desired) *sources {
	return &sources{configured: configured, desired: desired, handled: map[string]bool{}}
}

// markHandled records sources whose first snapshot has been handled.
func (s *sources) markHandled(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.handled[name] = true
	}
}

// ready reports whether the first snapshot of the named source has been handled. With an empty
// name, for a pod of an unknown source, it reports whether the first snapshots of all sources have
// been handled.
func (s *sources) ready(name string) bool {
	if name == "" {
		return !slices.ContainsFunc(s.configured, func(n string) bool { return !s.ready(n) })
	}
	if slices.Contains(s.configured, name) && !s.isHandled(name) {
		return false
	}
	return s.desired.Seen(name)
}

func (s *sources) isHandled(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.handled[name]
}
