package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/server"
	"github.com/wardlet/wardlet/core/systemd"
)

// stages lists the parts in the order they start.
func (n *Node) stages() ([]Stage, error) {
	if err := n.lockCgroups(); err != nil {
		return nil, err
	}
	listener, err := server.Listen(n.cfg.Paths.Socket)
	if err != nil {
		return nil, err
	}
	listener = server.Lasting(listener, n.cfg.Paths.Socket, n.log)
	streams := n.streams()
	options := server.Options{
		Logs: http.HandlerFunc(streams.Logs), Exec: http.HandlerFunc(streams.Exec), Attach: http.HandlerFunc(streams.Attach), PortForward: http.HandlerFunc(streams.PortForward),
		Pods: n, PodChanges: &n.podChanges, Metrics: n.meters.Metrics.Handler(), Sources: n.mux, Events: n.events, Waiting: n.asking(), Updates: n.mux, Foreign: n.runtime, Stats: n.stats,
		Version: api.NewVersion(n.version), Logger: n.log, Node: n.node, Object: n.object.Node, Origins: n.origins, Verdicts: n.verdicts, Objects: n.objectList, Now: time.Now, Started: time.Now(),
	}
	if n.policies != nil {
		options.Policies = n.policies
	}
	api := server.New(options)
	api.ServeReload(func(ctx context.Context) (any, error) { return n.ReloadConfig(ctx) })
	stages := []Stage{
		{"local API", func(ctx context.Context) error { return api.Serve(ctx, listener) }},
		{"runtime status", endless(n.health.Run)},
	}
	stages = append(stages, n.runtimeStages()...)
	stages = append(stages, Stage{"log rotation", endless(n.logRotator().Run)}, Stage{"limits of local storage", endless(n.limits.Run)}, Stage{"cgroups", endless(n.refreshCgroups)}, Stage{"resolv.conf", endless(n.watchResolvConf)})
	stages = append(stages, Stage{"eviction", endless(n.eviction.Run)})
	stages = append(stages, Stage{"statistics of volumes", endless(n.stats.Run)}, Stage{"removal of unused images", endless(n.unusedImages.Run)})
	stages = append(stages, Stage{"outcomes", n.outcomes.Run}, Stage{"endings", n.endings.Run})
	stages = append(stages, n.objectStages()...)
	stages = append(stages, Stage{"images", endless(n.images.Run)}, Stage{"probes", endless(n.probes.Run)})
	stages = append(stages, n.podStages()...)
	stages = append(stages, Stage{"foreign pods", endless(n.runtime.WatchForeign)}, Stage{"out of memory", endless(n.oom.Run)})
	if n.shutdown != nil {
		stages = append(stages, Stage{"shutdown", endless(n.shutdown.Run)})
	}
	if address := n.cfg.Metrics.Listen; address != "" {
		stages = append(stages, Stage{"metrics", endless(func(ctx context.Context) { n.meters.Metrics.Serve(ctx, address) })})
	}
	if n.reload != nil {
		stages = append(stages, Stage{"configuration", n.reload.Run})
	}
	if n.policies != nil {
		stages = append(stages, Stage{"policies", n.policies.Run}, Stage{"adoption", n.adoption.Run})
		if n.cfg.UsesClusterSet() {
			stages = append(stages, Stage{"policies of the cluster", endless(n.clusterSet().Run)})
		}
	}
	if n.member != nil {
		stages = append(stages, Stage{"node object", endless(n.watchNode)}, Stage{"cluster", endless(n.joinCluster)}, Stage{"events", endless(n.apiEvents.Run)})
	}
	if keeper := n.certificates.Client; keeper != nil {
		stages = append(stages, Stage{"client certificate", endless(keeper.Run)})
	}
	if keeper := n.certificates.Serving; keeper != nil {
		stages = append(stages, Stage{"serving certificate", endless(keeper.Run)})
	}
	nodeAPI, err := n.nodeAPI()
	if err != nil {
		return nil, err
	}
	if nodeAPI != nil {
		stages = append(stages, Stage{"node API", endless(nodeAPI.Run)})
	}
	stages = append(stages, n.sourceStages()...)
	return append(stages, Stage{"watchdog", n.watchdog().Run}), nil
}

// lockCgroups locks the cgroup root against other agents. If no lock can be made, it continues
// without one.
func (n *Node) lockCgroups() error {
	lock, err := node.LockRoot(node.LocksDir, n.cfg.Paths.CgroupRoot)
	if errors.Is(err, node.ErrRootTaken) {
		return err
	}
	if err != nil {
		n.log.Warn("the cgroup root has no lock against other agents", "err", err)
		return nil
	}
	n.cgroupLock = lock
	return nil
}

// endless adapts a part that runs until ctx ends and cannot fail.
func endless(run func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		run(ctx)
		return ctx.Err()
	}
}

// Stage is a part that runs for as long as the agent does.
type Stage struct {
	Name string
	// Run works until ctx ends. An earlier return is a failure.
	Run func(ctx context.Context) error
}

// runStages starts all stages in order. When ctx ends, or one stage returns early, it stops them in
// the reverse order and waits for each one. It returns the failure, nil if ctx was the reason.
func runStages(ctx context.Context, stages []Stage) error {
	failed := make(chan error, len(stages))
	stops := make([]func(), 0, len(stages))
	for _, s := range stages {
		// A stage continues after ctx ends until it is its turn to stop.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		var done sync.WaitGroup
		done.Go(func() {
			err := s.Run(own)
			if own.Err() == nil {
				failed <- fmt.Errorf("%s ended: %w", s.Name, errors.Join(err, errStage))
			}
		})
		stops = append(stops, func() { cancel(); done.Wait() })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	return err
}

// errStage marks a part that returned although ctx had not ended.
var errStage = errors.New("it ended before the agent")

// callsTimeout limits how long calls to the runtime may continue after the agent began to stop.
const callsTimeout = 10 * time.Second

// endCalls limits the calls that are in flight when the agent stops.
func endCalls(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callsTimeout)
}

// stopper is a part that may have runtime calls in flight that change something. Stop prevents new
// calls and waits for those in flight, at most until ctx ends.
type stopper interface {
	Stop(ctx context.Context)
}

// finishCalls stops all of them at the same time.
func finishCalls(ctx context.Context, all ...stopper) {
	var stopping sync.WaitGroup
	for _, s := range all {
		stopping.Go(func() { s.Stop(ctx) })
	}
	stopping.Wait()
}

// wireNotify finds the service manager to notify of the agent's health. An invalid environment does
// not prevent the start.
func (n *Node) wireNotify(lookup func(string) (string, bool)) {
	if lookup == nil {
		return
	}
	notify, err := systemd.New(lookup)
	if err != nil {
		n.log.Warn("systemd is not notified of the agent's state", "err", err)
	}
	n.notify = notify
}

// watchdog returns the watchdog of the agent.
func (n *Node) watchdog() *systemd.Watchdog {
	return &systemd.Watchdog{
		Notify: n.notify, Stuck: n.loop.Healthy, Health: n.runtimeChecks(), Starting: n.starting, Status: n.statusLine, Log: n.log,
	}
}

// runtimeChecks returns the checks of the runtime that the sync loop waits for.
func (n *Node) runtimeChecks() []func() error {
	return []func() error{n.health.Healthy, n.pleg.Healthy}
}

// starting describes what the agent waits for before it starts its work: the runtime, the first
// list of running pods, and the knowledge which of these were admitted.
func (n *Node) starting() error {
	for _, check := range n.runtimeChecks() {
		if err := check(); err != nil {
			return err
		}
	}
	if n.adoption.Unlisted() {
		return errTakingOver
	}
	return nil
}

var errTakingOver = errors.New("the agent takes over running pods")

// statusLine returns the status for people if there is no problem.
func (n *Node) statusLine() string {
	return fmt.Sprintf("Node %s: %d pods", n.node, len(n.mux.Pods()))
}
