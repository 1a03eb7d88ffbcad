package workers

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/worker"
)

// ours are Wardlet's workers on a world.
type ours struct {
	*world
	pool     *worker.Pool
	cache    *pleg.Cache
	statuses *status.Store
}

func newOurs() *ours {
	o := &ours{world: newWorld(), cache: pleg.NewCache(), statuses: status.NewStore()}
	o.cache.SetList(nil, time.Now())
	o.changed = func(uid types.UID, p *worldPod) { o.cache.Set(o.observed(uid, p), time.Now().Add(1)) }
	o.pool = worker.New(worker.Config{
		Runtime: ownRuntime{o}, Images: ownImages{}, Volumes: ownVolumes{o}, Cgroups: ownCgroups{o},
		Cache: o.cache, Inspector: ownInspector{o}, Statuses: o.statuses, Reasons: status.NewReasonCache(), Events: noEvents{},
		// The directories do not exist: no pod has logs.
		Layout: pod.Layout{PodRoot: "/nonexistent/pods", LogRoot: "/nonexistent/logs"},
		Hash:   func(*v1.Container) string { return "" }, SyncFrequency: time.Minute, Now: time.Now,
		Jitter: func(d time.Duration) time.Duration { return d }, Log: slog.New(slog.DiscardHandler),
		OnRemoved: func(uid types.UID) { o.forget(uid) },
	})
	return o
}

// stop stops all workers.
func (o *ours) stop() {
	o.release()
	synctest.Wait()
	o.pool.Stop(context.Background())
}

// observed returns the state of a pod that a runtime reports.
func (o *ours) observed(uid types.UID, p *worldPod) status.ObservedPod {
	out := status.ObservedPod{UID: uid, Name: p.name, Namespace: "default"}
	if !p.sandbox && !p.runs && !p.dead {
		return status.ObservedPod{UID: uid}
	}
	out.Sandboxes = []status.ObservedSandbox{{ID: p.sandboxID(uid), Ready: p.sandbox, HostNetwork: true}}
	c := status.ObservedContainer{
		ID: p.containerID(uid), SandboxID: p.sandboxID(uid), Name: "main", State: status.StateRunning, Image: "image", StartedAt: time.Now(),
	}
	if !p.runs {
		c.State, c.FinishedAt = status.StateExited, time.Now()
	}
	out.Containers = []status.ObservedContainer{c}
	return out
}

// apply applies one operation and waits until all goroutines are idle.
func (o *ours) apply(op *Op, look *Look) {
	kinds := map[string]worker.Kind{doCreate: worker.Create, doUpdate: worker.Update, doSync: worker.Sync, doKill: worker.Kill}
	switch op.Do {
	case doStray:
		at := o.read(op.UID)
		observed := o.observed(op.UID, &at)
		o.pool.Submit(worker.Request{Kind: worker.Kill, Observed: &observed})
	case doAppear:
		o.start(op.UID, string(op.UID))
	case doExit:
		o.exit(op.UID)
	case doSet:
		o.set(op.UID, op.Call, op.Mode)
	case doKnown:
		look.Known = map[types.UID]string{}
		for uid, state := range o.pool.SyncKnownPods(func(uid types.UID) bool { return slices.Contains(op.Wanted, uid) }) {
			if state == worker.Finished {
				state = worker.Terminated // a kubelet's states do not distinguish more
			}
			look.Known[uid] = state.String()
		}
	default:
		r := worker.Request{Kind: kinds[op.Do], Pod: op.Pod.Object(op.UID)}
		if op.Do == doKill {
			r.Kill = &worker.KillOptions{Evict: op.Evict, Grace: op.Grace}
			if op.Mark != "" {
				r.Kill.Status = func(st *v1.PodStatus) { st.Message = op.Mark }
			}
		}
		o.pool.Submit(r)
	}
	time.Sleep(time.Second)
	synctest.Wait()
}

func (o *ours) seen(uid types.UID) Seen {
	out, p := o.look(uid), o.pool
	out.KnownTerminated, out.CouldRun = p.KnownTerminated(uid), p.MayRunContainers(uid)
	out.Finished, out.TerminationRequested = p.Done(uid), p.TerminationRequested(uid)
	out.ContainersTerminating = p.Stopping(uid)
	out.RuntimeRemovable, out.ContentRemovable = p.RuntimeRemovable(uid), p.ContentRemovable(uid)
	return out
}

// The types below are the dependencies of the workers.
type (
	ownRuntime   struct{ *ours }
	ownImages    struct{}
	ownVolumes   struct{ *ours }
	ownCgroups   struct{ *ours }
	ownInspector struct{ *ours }
	noEvents     struct{}
)

func (r ownRuntime) RunSandbox(_ context.Context, run pod.SandboxRun) (string, error) {
	r.start(run.Pod.UID, run.Pod.Name)
	at := r.read(run.Pod.UID)
	return at.sandboxID(run.Pod.UID), nil
}

// ExpandPath implements worker.Runtime.
func (ownRuntime) ExpandPath(_ context.Context, _ *pod.ContainerRun, path string) (string, error) {
	return path, nil
}

// StartContainer does nothing: a sandbox is made together with its container.
func (r ownRuntime) StartContainer(_ context.Context, run pod.ContainerRun) (string, error) {
	at := r.read(run.Pod.UID)
	return at.containerID(run.Pod.UID), nil
}

func (r ownRuntime) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	uid := uidOf(id)
	st, _ := r.statuses.Get(uid)
	return r.world.stop(ctx, uid, int64(grace/time.Second), st.Message)
}

func (r ownRuntime) RemoveContainer(context.Context, types.UID, string) error { return nil }

func (r ownRuntime) StopSandbox(_ context.Context, id string) error {
	r.stopSandbox(uidOf(id))
	return nil
}

func (ownRuntime) NetworkReady() error { return nil }

// uidOf returns the UID of the pod of a sandbox or container.
func uidOf(id string) types.UID { return types.UID(strings.Split(id, "-")[1]) }

func (ownImages) Ensure(context.Context, *v1.Pod, *v1.Container) (string, error) { return "image", nil }

func (v ownVolumes) Setup(ctx context.Context, p *v1.Pod) error { return v.tryToSetUp(ctx, p.UID) }

func (ownVolumes) Mounts(*v1.Pod, *v1.Container, func(string) (string, error)) ([]pod.Mount, error) {
	return nil, nil
}

func (v ownVolumes) Teardown(ctx context.Context, uid types.UID) error {
	return v.call(ctx, uid, callClean)
}

func (ownCgroups) Ensure(*v1.Pod) (string, error) { return "/pod", nil }

func (c ownCgroups) Remove(_ context.Context, uid types.UID) error {
	c.forget(uid)
	return nil
}

func (i ownInspector) Refresh(uid types.UID) { i.edit(uid, func(*worldPod) {}) }

func (noEvents) Event(*v1.Pod, string, string, string) {}
