package syncloop

import (
	"strconv"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// reasonHasEnded is why an edit of a pod has no effect.
const reasonHasEnded = "HasEnded"

// tellEdit shows with a static pod that has ended what its document says otherwise since:
// nothing of it is run again. m is the newer version of before. An edit that is taken back
// is shown no longer.
func (l *Loop) tellEdit(before, m member) {
	if before.pod == nil || !pod.IsStatic(m.pod) || m.rejected || m.returns || !l.ended(before.pod) {
		return
	}
	if m.ended == nil {
		m.ended = before.pod
		l.pods.put(m)
	}
	if pod.SameInstance(before.pod, m.pod) {
		return
	}
	path := rerunOtherwise(m.ended, m.pod)
	if path == "" {
		l.cfg.Statuses.EditIgnored(m.pod.UID, reasonHasEnded, "", l.cfg.Now())
		return
	}
	message := l.showEdit(m.pod, path)
	l.cfg.Events.Event(m.pod, v1.EventTypeWarning, reasonHasEnded, message)
}

// showEdit shows that a pod which has ended was edited, and returns what is shown.
func (l *Loop) showEdit(p *v1.Pod, path string) string {
	message := path + " has changed, but the pod has ended: to run it again, take its manifest away and put it back, or give it another UID"
	l.cfg.Statuses.EditIgnored(p.UID, reasonHasEnded, message, l.cfg.Now())
	return message
}

// rerunOtherwise returns the first field by which a run of after would be another than one of
// before, "" for none.
func rerunOtherwise(before, after *v1.Pod) string {
	if path := pod.Remade(before, after); path != "" {
		return path
	}
	for i := range min(len(before.Spec.InitContainers), len(after.Spec.InitContainers)) {
		if before.Spec.InitContainers[i].Image != after.Spec.InitContainers[i].Image {
			return "spec.initContainers[" + strconv.Itoa(i) + "].image"
		}
	}
	for i := range min(len(before.Spec.Containers), len(after.Spec.Containers)) {
		if before.Spec.Containers[i].Image != after.Spec.Containers[i].Image {
			return "spec.containers[" + strconv.Itoa(i) + "].image"
		}
	}
	if before.Spec.RestartPolicy != after.Spec.RestartPolicy {
		return "spec.restartPolicy"
	}
	return ""
}
