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

// housekeep makes the workers match the pods that are wanted, whatever was
// missed: it lets go of workers that are done or whose pod is gone, makes
// those that are missing, and looks for pods that run and that no source wants.
func (l *Loop) housekeep(ctx context.Context) {
	l.createMissingWorkers(l.cfg.Workers.SyncKnownPods(l.wanted))
	l.forgetTerminated()
	if l.relisting || len(l.orphans()) == 0 {
		return
	}
	// What the last list showed may be over: look again before anything ends.
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

// killOrphans ends the pods that run without a worker or a source, by a fresh list.
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

// orphans returns the pods without a worker that may be ended: the source each was made for
// does not want it. As in unwanted, whether that source is ready is checked first.
func (l *Loop) orphans() []worker.Orphan {
	var orphans []worker.Orphan
	for _, s := range l.cfg.Workers.Orphans() {
		if l.sources.ready(s.Source) && !l.cfg.Desired.WantedBy(s.UID, s.Source) && !l.pods.has(s.UID) {
			orphans = append(orphans, s)
		}
	}
	return orphans
}

// wanted reports whether the pod is to run: by the mux, or by the set while
// its removal is still on the way here.
func (l *Loop) wanted(uid types.UID) bool {
	return l.cfg.Desired.Wanted(uid) || l.pods.has(uid)
}

// unwanted reports whether it is known that the pod is not to run. The source
// is asked about first: a snapshot that comes between the two questions must
// not make its own pods look unwanted.
func (l *Loop) unwanted(uid types.UID, source string) bool {
	return l.sources.ready(source) && !l.wanted(uid)
}

// Removable reports whether everything a pod left on the node may be removed:
// dead containers, sandboxes, logs, directories, cgroup. source is the one the
// pod's sandbox names, empty where nothing tells it. It may be called from any
// goroutine.
func (l *Loop) Removable(uid types.UID, source string) bool {
	return (l.unwanted(uid, source) || l.notStarted(uid)) && l.cfg.Workers.ContentRemovable(uid)
}

// notStarted reports whether a pod waits for room, or for what is left of the pod
// before it of the same UID. What there is of it is from an earlier life, and would be
// taken for its own.
func (l *Loop) notStarted(uid types.UID) bool {
	m, _ := l.pods.get(uid)
	waits := m.rejected && pod.IsStatic(m.pod) && !refused(m.verdict)
	return (waits || m.recreated) && !l.cfg.Workers.Has(uid)
}

// sources records which sources are ready. A source is ready once the loop
// has handled its first snapshot, not merely when the mux has it: until then
// what it took away may still be on its way here.
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

// ready reports whether the first snapshot of the named source has been handled. With an
// empty name, for a pod of an unknown source, it reports whether those of all have.
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
