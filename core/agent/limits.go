package agent

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/worker"
)

const (
	// limitPeriod is how often the emptyDirs of pods are held against their limits. To count the files of one pod takes at
	// most a limitShare of the time: the next count waits for as long.
	limitPeriod = 10 * time.Second
	limitShare  = 20
	// overGrace is the grace period of a pod that is beyond a limit, in seconds, as with a kubelet.
	overGrace = 1
)

const (
	reasonEvicted   = "Evicted"
	messageOverSize = "Usage of EmptyDir volume %q exceeds the limit %q. "
	messageTooDeep  = "Usage of EmptyDir volume %q, which has the limit %q, cannot be counted: directories lie too deep in each other. "
)

// limits end pods whose emptyDirs have grown beyond their limits.
type limits struct {
	node     *Node
	critical pod.Criticality
	// due is when the files of a pod are counted again.
	due map[types.UID]time.Time
	// uncounted is what could not be counted of a pod, as it was logged.
	uncounted map[types.UID]string
}

// watchLimits holds emptyDirs against their limits until ctx is done.
func (n *Node) watchLimits(ctx context.Context) {
	l := limits{node: n, critical: criticality(n.cfg, n.node), due: map[types.UID]time.Time{}, uncounted: map[types.UID]string{}}
	tick := time.NewTicker(limitPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.look(ctx, n.mux.Pods())
		case <-ctx.Done():
			return
		}
	}
}

func (l *limits) look(ctx context.Context, pods []mux.Desired) {
	n := l.node
	there := map[types.UID]bool{}
	for i := range pods {
		p := pods[i].Pod
		if !volume.Limited(p) {
			continue
		}
		there[p.UID] = true
		// What is critical is not ended for its files, as with a kubelet.
		if time.Now().Before(l.due[p.UID]) || !n.workers.MayRunContainers(p.UID) || n.workers.TerminationRequested(p.UID) || l.critical.Critical(p) {
			continue
		}
		began := time.Now()
		over, err := n.volumes.Over(ctx, p)
		l.due[p.UID] = time.Now().Add(limitShare * time.Since(began))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if l.uncounted[p.UID] != err.Error() {
				l.uncounted[p.UID] = err.Error()
				n.log.Warn("not all files of a pod can be counted; its limit may not be enforced", "pod", p.Namespace+"/"+p.Name, "err", err)
			}
		case over != nil:
			message := messageOverSize
			if over.Deep {
				message = messageTooDeep
			}
			l.end(&pods[i], fmt.Sprintf(message, over.Volume, over.Limit.String()))
		}
	}
	for uid := range l.due {
		if !there[uid] {
			delete(l.due, uid)
			delete(l.uncounted, uid)
		}
	}
}

// end has a pod fail.
func (l *limits) end(d *mux.Desired, message string) {
	l.node.recorder.Event(d.Pod, v1.EventTypeWarning, reasonEvicted, message)
	l.node.workers.Update(worker.Request{
		Kind: worker.Kill, Pod: d.Pod, Origin: d.Origin,
		Kill: &worker.KillOptions{Evict: true, Grace: new(int64(overGrace)), Status: syncloop.DisruptedStatus(reasonEvicted, message, message)},
	})
}
