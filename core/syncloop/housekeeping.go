package syncloop

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/worker"
)

// housekeep makes the workers match the pods that are wanted, whatever was
// missed: it lets go of workers that are done or whose pod is gone, makes
// those that are missing, and looks for pods that run for nobody.
func (l *Loop) housekeep(ctx context.Context) {
	workers := l.cfg.Workers.Known(l.wanted)
	for uid, m := range l.pods.all() {
		if _, has := workers[uid]; !has && l.active(m) {
			l.cfg.Log.Info("pod has no worker, it gets one", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid, "source", m.origin.Source)
			l.request(worker.Create, m)
		}
	}
	if l.relisting || len(l.strays()) == 0 {
		return
	}
	// What the last list showed may be over: look again before anything ends.
	l.relisting = true
	l.helpers.Go(func() { l.relisted <- l.cfg.PLEG.Relist(ctx) })
}

// endStrays ends the pods that a fresh list shows to run for nobody.
func (l *Loop) endStrays(err error) {
	l.relisting = false
	if err != nil {
		l.cfg.Log.Warn("pods that run for nobody stay until the runtime can be listed", "err", err)
		return
	}
	for _, s := range l.strays() {
		l.cfg.Log.Info("pod runs but nobody wants it, it is ended",
			"pod", s.Namespace+"/"+s.Name, "uid", s.UID, "source", s.Source)
		l.cfg.Workers.KillStray(&s)
	}
}

// strays are the pods without a worker that may be ended.
func (l *Loop) strays() []worker.Stray {
	var strays []worker.Stray
	for _, s := range l.cfg.Workers.Strays() {
		if l.unwanted(s.UID, s.Source) {
			strays = append(strays, s)
		}
	}
	return strays
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
	return l.sources.heard(source) && !l.wanted(uid)
}

// Removable reports whether everything a pod left on the node may be removed:
// dead containers, sandboxes, logs, directories, cgroup. source is the one the
// pod's sandbox names, empty where nothing tells it. It may be called from any
// goroutine.
func (l *Loop) Removable(uid types.UID, source string) bool {
	return l.unwanted(uid, source) && l.cfg.Workers.ContentRemovable(uid)
}
