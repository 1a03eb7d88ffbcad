package agent

import (
	"os"
	goruntime "runtime"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/stats"
	"github.com/wardlet/wardlet/core/stats/kernel"
)

// wireStats makes the statistics of this node.
func (n *Node) wireStats() error {
	counters, err := kernel.Open("/")
	if err != nil {
		return err
	}
	n.stats = stats.New(stats.Config{
		Node: n.node, Runtime: n.runtime, Kernel: counters, Observed: n.inspectedPods, Pods: n.podSpecs, Layout: parts.Layout(n.cfg),
		CgroupRoot: n.cfg.Paths.CgroupRoot, PID: os.Getpid(), RuntimeSocket: strings.TrimPrefix(n.client.Endpoint(), "unix://"),
		CPUs: goruntime.NumCPU(), Logger: n.log, Now: time.Now,
	})
	return nil
}

// podSpecs returns the wanted pods.
func (n *Node) podSpecs() []*v1.Pod {
	wanted := n.mux.Pods()
	pods := make([]*v1.Pod, len(wanted))
	for i := range wanted {
		pods[i] = wanted[i].Pod
	}
	return pods
}
