package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/logs/rotate"
	"github.com/wardlet/wardlet/core/status"
)

// logRotator returns what rotates the logs of containers.
func (n *Node) logRotator() *rotate.Rotator {
	return rotate.New(rotate.Config{
		Pods: n.inspectedPods, Reopen: n.runtime.ReopenLog, Events: n.recorder,
		MaxSize: n.cfg.Runtime.MaxLogSize(), MaxFiles: n.cfg.Runtime.ContainerLogMaxFiles, Log: n.log, Now: time.Now,
	})
}

// inspectedPods returns the pods of this installation as they were last inspected.
func (n *Node) inspectedPods() []status.ObservedPod {
	known := n.knownPods()
	pods := make([]status.ObservedPod, 0, len(known))
	for _, listed := range known {
		// After an inspection that failed it is the one before.
		p, _ := n.cache.Get(listed.UID)
		pods = append(pods, p)
	}
	return pods
}
