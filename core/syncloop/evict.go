package syncloop

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

// messageEviction says why a pod ends that policy does not let run any more.
const messageEviction = "Pod was evicted because a policy that has changed does not admit it any more."

// evict ends a pod that was admitted and is not any more, with its own grace period.
// From now on it is one that was rejected. One of which nothing has begun is that at
// once.
func (l *Loop) evict(c *api.Change) {
	m, known := l.pods.get(c.New.UID)
	if !known || m.rejected && refused(m.verdict) {
		l.cfg.Log.Error("eviction of a pod that does not run ignored", "pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source)
		return
	}
	m.verdict = c.Verdict
	_, waits := l.waiting[m.pod.UID]
	delete(l.waiting, m.pod.UID)
	if m.returns || waits || l.takeBack(m.pod.UID) {
		m.returns = false
		l.reject(m, admission.Result{Reason: c.Verdict.Reason, Message: c.Verdict.Message}, true)
		l.lookAgain()
		return
	}
	l.cfg.Events.Event(m.pod, v1.EventTypeWarning, c.Verdict.Reason, "Pod is evicted: "+c.Verdict.Message)
	l.end(m)
	l.lookAgain()
}

// end has the worker of a pod end it that policy refuses.
func (l *Loop) end(m member) {
	m.rejected = true
	l.pods.put(m)
	l.cfg.Workers.Update(worker.Request{
		Kind: worker.Kill, Pod: m.pod, Origin: m.origin,
		Kill: &worker.KillOptions{Evict: true, Status: disrupted(m.verdict.Reason, "Pod was evicted: "+m.verdict.Message, messageEviction)},
	})
}
