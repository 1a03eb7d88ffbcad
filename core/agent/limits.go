package agent

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/volume/usage"
	"github.com/wardlet/wardlet/core/worker"
)

const (
	// limitPeriod is the interval at which the emptyDirs of pods are compared with their limits.
	// Counting the files of one pod takes at most 1/limitShare of the time, because the next count is
	// delayed in proportion. One count takes countTime at most.
	limitPeriod = 10 * time.Second
	limitShare  = 20
	countTime   = 30 * time.Second
	// overGrace is the grace period, in seconds, of a pod that exceeds a limit, as with a kubelet.
	overGrace = 1
)

const (
	reasonEvicted   = "Evicted"
	signalEmptyDir  = "emptydirfs.limit" // in a kubelet's metric
	messageOverSize = "Usage of EmptyDir volume %q exceeds the limit %q. "
	messageTooDeep  = "Usage of EmptyDir volume %q, which has the limit %q, cannot be counted: directories lie too deep in each other. "
)

// limits terminates pods whose emptyDirs have grown beyond their limits.
type limits struct {
	node     *Node
	layout   pod.Layout
	critical pod.Criticality
	// due is the time at which the files of a pod are counted again.
	due map[types.UID]time.Time
	// uncounted is the last logged reason why the files of a pod could not be counted.
	uncounted map[types.UID]string
}

// watchLimits compares emptyDirs with their limits until ctx is done.
func (n *Node) watchLimits(ctx context.Context) {
	l := limits{node: n, layout: parts.Layout(n.cfg), critical: criticality(n.cfg, n.node), due: map[types.UID]time.Time{}, uncounted: map[types.UID]string{}}
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
	workers := l.node.workers
	there := map[types.UID]bool{}
	for i := range pods {
		p := pods[i].Pod
		if !isLimited(p) {
			continue
		}
		there[p.UID] = true
		// A critical pod is not terminated for its files, as with a kubelet.
		if time.Now().Before(l.due[p.UID]) || !workers.MayRunContainers(p.UID) || workers.TerminationRequested(p.UID) || l.critical.Critical(p) {
			continue
		}
		began := time.Now()
		message := l.over(ctx, p)
		if ctx.Err() != nil {
			return
		}
		l.due[p.UID] = time.Now().Add(limitShare * time.Since(began))
		if message != "" {
			l.end(&pods[i], message)
		}
	}
	for uid := range l.due {
		if !there[uid] {
			delete(l.due, uid)
			delete(l.uncounted, uid)
		}
	}
}

func isLimited(p *v1.Pod) bool {
	for i := range p.Spec.Volumes {
		if sizeLimit(&p.Spec.Volumes[i]) != nil {
			return true
		}
	}
	return false
}

// sizeLimit returns the limit of an emptyDir on the disk, nil for none. An emptyDir in memory
// cannot grow beyond its own limit. A limit of 0 means no limit, as with a kubelet.
func sizeLimit(v *v1.Volume) *resource.Quantity {
	if v.EmptyDir == nil || v.EmptyDir.Medium != v1.StorageMediumDefault || v.EmptyDir.SizeLimit == nil || v.EmptyDir.SizeLimit.Sign() <= 0 {
		return nil
	}
	return v.EmptyDir.SizeLimit
}

// over names the emptyDir of a pod that exceeds its limit, "" for none.
func (l *limits) over(ctx context.Context, p *v1.Pod) string {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		limit := sizeLimit(v)
		if limit == nil {
			continue
		}
		used, err := usage.Count(ctx, l.layout.VolumeDir(p.UID, volume.EmptyDirPlugin, v.Name), limit.Value())
		switch {
		case used.Bytes > limit.Value():
			return fmt.Sprintf(messageOverSize, v.Name, limit.String())
		case used.Deep:
			return fmt.Sprintf(messageTooDeep, v.Name, limit.String())
		case err != nil && l.uncounted[p.UID] != err.Error():
			l.uncounted[p.UID] = err.Error()
			l.node.log.Warn("not all files of a pod can be counted; its limit may not be enforced", "pod", p.Namespace+"/"+p.Name, "volume", v.Name, "err", err)
		}
	}
	return ""
}

// end terminates a pod as failed.
func (l *limits) end(d *mux.Desired, message string) {
	l.node.meters.Evictions.Evicted(signalEmptyDir)
	l.node.evict(d.Pod, d.Origin, &worker.KillOptions{Grace: new(int64(overGrace))}, message)
}

// evict terminates a pod as evicted, and records an event about it.
func (n *Node) evict(p *v1.Pod, from api.Origin, how *worker.KillOptions, message string) {
	n.recorder.Event(p, v1.EventTypeWarning, reasonEvicted, message)
	how.Evict, how.Status = true, syncloop.DisruptedStatus(reasonEvicted, message, message)
	n.workers.Submit(worker.Request{Kind: worker.Kill, Pod: p, Origin: from, Kill: how})
}

// cgroupPeriod is the interval at which the limits of all pods together and of their classes are set
// again, as with a kubelet.
const cgroupPeriod = time.Minute

// newCgroups makes the cgroups of pods, with the limits that the configuration reserves.
func (n *Node) newCgroups() (*node.Cgroups, error) {
	reserved, pids := n.cfg.Node.Reserved()
	free := n.object.Node().Status.Allocatable
	bounds := node.Bounds{MilliCPU: free.Cpu().MilliValue(), PodPIDs: n.cfg.Node.PodPIDs()}
	if _, ok := reserved[v1.ResourceMemory]; ok {
		bounds.Memory = free.Memory().Value()
	}
	if pids > 0 {
		var err error
		if bounds.PIDs, err = node.UnreservedPIDs(pids); err != nil {
			return nil, err
		}
	}
	return node.NewCgroups(node.Driver(n.cfg.Runtime.CgroupDriver), n.cfg.Paths.CgroupRoot, bounds)
}

// swap returns the swap space that containers may use.
func (n *Node) swap() criconfig.Swap {
	capacity, err := node.SwapCapacity()
	if err != nil {
		n.log.Warn("the swap space of the node is not known, and containers may use none", "err", err)
	}
	return criconfig.Swap{Controller: n.cgroups.LimitsSwap(), Limited: n.cfg.Node.SwapBehavior == config.LimitedSwap, Capacity: capacity}
}

// refreshCgroups keeps the limits of the cgroups of pods until ctx is done.
func (n *Node) refreshCgroups(ctx context.Context) {
	tick := time.NewTicker(cgroupPeriod)
	defer tick.Stop()
	var failed string
	for {
		recreated, err := n.cgroups.Refresh()
		for _, uid := range recreated {
			n.log.Warn("the cgroup of a pod was removed by another program, and is created again", "uid", uid)
		}
		switch {
		case err == nil:
			failed = ""
		case failed != err.Error():
			failed = err.Error()
			n.log.Warn("the limits of pods cannot be set", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
