package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// node is a runtime with images, volumes and cgroups, in memory. The cache has its changes at
// once. A call in hold waits until its channel is closed or its context ends.
type node struct {
	cache *pleg.Cache

	mu     sync.Mutex
	pods   map[types.UID]*status.ObservedPod
	made   int
	calls  []string
	events []string
	// said are the events with their messages.
	said []string
	// about are the events about a container, as "pod/container Reason".
	about []string
	// fail and hold are the errors and the channels of calls, by the beginning of the call.
	fail map[string]error
	hold map[string]chan struct{}
	// inspections is the number of calls of Refresh.
	inspections int
	// changed is called with the UID of every pod that changed, if set.
	changed func(types.UID)
	network error
	// stopCode is the exit code of a container that is stopped.
	stopCode int32
	// stubborn makes containers run on when they are stopped.
	stubborn bool
	// blind makes the inspection of pods fail.
	blind bool
}

func newNode() *node {
	n := &node{
		cache: pleg.NewCache(),
		pods:  map[types.UID]*status.ObservedPod{},
		fail:  map[string]error{},
		hold:  map[string]chan struct{}{},

		stopCode: 137,
	}
	n.list()
	return n
}

// call records a call, waits if the call is held, and returns its error.
func (n *node) call(ctx context.Context, format string, args ...any) error {
	name := fmt.Sprintf(format, args...)
	n.mu.Lock()
	n.calls = append(n.calls, name)
	var held chan struct{}
	for prefix, ch := range n.hold {
		if strings.HasPrefix(name, prefix) {
			held = ch
		}
	}
	var fault error
	for prefix, err := range n.fail {
		if strings.HasPrefix(name, prefix) {
			fault = err
		}
	}
	n.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fault != nil {
		return fault
	}
	return ctx.Err()
}

// change changes a pod and updates the cache.
func (n *node) change(uid types.UID, f func(*status.ObservedPod)) {
	n.mu.Lock()
	o, ok := n.pods[uid]
	if !ok {
		o = &status.ObservedPod{UID: uid}
		n.pods[uid] = o
	}
	f(o)
	n.mu.Unlock()
	n.look(uid)
	n.list()
	if n.changed != nil {
		n.changed(uid)
	}
}

func (n *node) Refresh(uid types.UID) {
	n.mu.Lock()
	n.inspections++
	n.mu.Unlock()
	n.look(uid)
}

func (n *node) look(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now().Add(1) // the clock of a synctest bubble stands still
	if n.blind {
		n.cache.SetError(uid, errBroken, now)
		return
	}
	if o, ok := n.pods[uid]; ok {
		n.cache.Set(snapshot(o), now)
		return
	}
	n.cache.Set(status.ObservedPod{UID: uid}, now)
}

func (n *node) list() {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []status.ObservedPod
	for _, o := range n.pods {
		all = append(all, snapshot(o))
	}
	n.cache.SetList(all, time.Now())
}

func snapshot(o *status.ObservedPod) status.ObservedPod {
	s := *o
	s.Sandboxes, s.Containers = slices.Clone(o.Sandboxes), slices.Clone(o.Containers)
	s.IPs = nil
	for i := range s.Sandboxes {
		if s.Sandboxes[i].Ready {
			s.IPs = s.Sandboxes[i].IPs
			break
		}
	}
	return s
}

func (n *node) id(prefix string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made++
	return fmt.Sprintf("%s%d", prefix, n.made)
}

func (n *node) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	if err := n.call(ctx, "run-sandbox %s#%d", run.Pod.Name, run.Attempt); err != nil {
		return "", err
	}
	id := n.id("s")
	n.change(run.Pod.UID, func(o *status.ObservedPod) {
		o.Name, o.Namespace = run.Pod.Name, run.Pod.Namespace
		s := status.ObservedSandbox{
			ID: id, Attempt: run.Attempt, Ready: true, HostNetwork: run.Pod.Spec.HostNetwork,
			Annotations: run.Pod.Annotations,
		}
		if !s.HostNetwork {
			s.IPs = []string{"10.0.0.1"}
		}
		o.Sandboxes = slices.Insert(o.Sandboxes, 0, s)
	})
	return id, nil
}

// ExpandPath implements worker.Runtime.
func (*node) ExpandPath(_ context.Context, _ *pod.ContainerRun, path string) (string, error) {
	return path, nil
}

func (n *node) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	if err := n.call(ctx, "start %s/%s#%d", run.Pod.Name, run.Container.Name, run.Attempt); err != nil {
		return "", err
	}
	id := n.id("c")
	n.change(run.Pod.UID, func(o *status.ObservedPod) {
		o.Containers = slices.Insert(o.Containers, 0, status.ObservedContainer{
			ID: id, SandboxID: run.SandboxID, Name: run.Container.Name, Attempt: run.Attempt,
			State: status.StateRunning, StartedAt: time.Now(), Image: run.Container.Image, Hash: hash(run.Container),
		})
	})
	return id, nil
}

func (n *node) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	if err := n.call(ctx, "stop %s %s", id, grace); err != nil {
		return err
	}
	if !n.stubborn {
		n.exit(id, n.stopCode)
	}
	return nil
}

// exit makes a container exit with a code.
func (n *node) exit(id string, code int32) {
	n.mu.Lock()
	var uid types.UID
	for u, o := range n.pods {
		for i := range o.Containers {
			if o.Containers[i].ID == id {
				uid = u
			}
		}
	}
	n.mu.Unlock()
	n.change(uid, func(o *status.ObservedPod) {
		for i := range o.Containers {
			if c := &o.Containers[i]; c.ID == id && c.State != status.StateExited {
				c.State, c.ExitCode, c.FinishedAt = status.StateExited, code, time.Now()
			}
		}
	})
}

func (n *node) RemoveContainer(ctx context.Context, uid types.UID, id string) error {
	if err := n.call(ctx, "remove %s", id); err != nil {
		return err
	}
	n.change(uid, func(o *status.ObservedPod) {
		o.Containers = slices.DeleteFunc(o.Containers, func(c status.ObservedContainer) bool { return c.ID == id })
	})
	return nil
}

func (n *node) StopSandbox(ctx context.Context, id string) error {
	if err := n.call(ctx, "stop-sandbox %s", id); err != nil {
		return err
	}
	n.mu.Lock()
	uids := make([]types.UID, 0, len(n.pods))
	for uid := range n.pods {
		uids = append(uids, uid)
	}
	n.mu.Unlock()
	for _, uid := range uids {
		n.change(uid, func(o *status.ObservedPod) {
			for i := range o.Sandboxes {
				if o.Sandboxes[i].ID == id {
					o.Sandboxes[i].Ready = false
				}
			}
		})
	}
	return nil
}

func (n *node) NetworkReady() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.network
}

func (n *node) Event(p *v1.Pod, _, reason, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, p.Name+" "+reason)
	n.said = append(n.said, reason+": "+message)
}

func (n *node) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	n.Event(p, eventType, reason, message)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.about = append(n.about, p.Name+"/"+container+" "+reason)
}

// images, volumes and cgroups are the node, as separate types because some of their methods
// have the same names.
type (
	images  struct{ *node }
	volumes struct{ *node }
	cgroups struct{ *node }
)

func (i images) Ensure(ctx context.Context, _ *v1.Pod, c *v1.Container) (string, error) {
	return "sha256:" + c.Image, i.quiet(ctx, "image "+c.Image)
}

func (v volumes) Setup(ctx context.Context, p *v1.Pod) error { return v.quiet(ctx, "setup "+p.Name) }

func (v volumes) Mounts(p *v1.Pod, c *v1.Container, _ func(string) (string, error)) ([]pod.Mount, error) {
	return nil, v.quiet(context.Background(), "mounts "+p.Name+"/"+c.Name)
}

func (v volumes) Teardown(ctx context.Context, uid types.UID) error {
	return v.call(ctx, "teardown %s", uid)
}

func (c cgroups) Ensure(p *v1.Pod) (string, error) {
	return "/wardlet/" + string(p.UID), c.quiet(context.Background(), "cgroup "+p.Name)
}

func (c cgroups) Remove(ctx context.Context, uid types.UID) error {
	return c.call(ctx, "remove-cgroup %s", uid)
}

// quiet makes a call that is not recorded, because it changes nothing in a healthy pod.
func (n *node) quiet(ctx context.Context, name string) error {
	err := n.call(ctx, "%s", name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = slices.DeleteFunc(n.calls, func(c string) bool { return c == name })
	return err
}

// taken returns the calls since the last call of taken.
func (n *node) taken() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := n.calls
	n.calls = nil
	return calls
}

func (n *node) recorded(event string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.events, event)
}

func (n *node) newest(uid types.UID, container string) status.ObservedContainer {
	n.mu.Lock()
	defer n.mu.Unlock()
	if o, ok := n.pods[uid]; ok {
		if c := o.Newest(container); c != nil {
			return *c
		}
	}
	return status.ObservedContainer{}
}

func hash(c *v1.Container) string { return c.Name + "=" + c.Image }

var errBroken = errors.New("broken")

// newPod returns a static pod with one container per name.
func newPod(name string, uid types.UID, containers ...string) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.Namespace, p.UID = name, "default", uid
	p.Annotations = map[string]string{pod.AnnotationSource: "file"}
	p.Spec.RestartPolicy = v1.RestartPolicyAlways
	p.Spec.TerminationGracePeriodSeconds = new(int64(30))
	for _, c := range containers {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: c, Image: "img"})
	}
	return p
}

// fromAPI makes p a pod of an API server.
func fromAPI(p *v1.Pod) *v1.Pod {
	p.Annotations = nil
	return p
}

// bench is a pool on a node, with helpers that act as the sync loop.
type bench struct {
	*node
	pool  *Pool
	store *status.Store
	log   *warnings
	cfg   Config
}

// warnings counts the log messages with the level of a warning or higher.
type warnings struct {
	slog.Handler
	count atomic.Int32
}

func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w *warnings) Handle(context.Context, slog.Record) error {
	w.count.Add(1)
	return nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	n := newNode()
	b := &bench{node: n, store: status.NewStore(), log: &warnings{Handler: slog.DiscardHandler}}
	b.cfg = Config{
		Runtime: n, Images: images{n}, Volumes: volumes{n}, Cgroups: cgroups{n},
		Cache: n.cache, Inspector: n, Statuses: b.store, Reasons: status.NewReasonCache(), Events: n,
		Layout:        pod.Layout{PodRoot: t.TempDir(), LogRoot: t.TempDir()},
		SyncFrequency: time.Minute, RuntimeName: "fake", Hash: hash, Log: slog.New(b.log), Now: time.Now,
		Jitter: func(d time.Duration) time.Duration { return d },
	}
	b.pool = New(b.cfg)
	t.Cleanup(func() { b.pool.Stop(context.Background()) })
	return b
}

func (b *bench) create(p *v1.Pod) { b.pool.Submit(Request{Kind: Create, Pod: p}) }
func (b *bench) update(p *v1.Pod) { b.pool.Submit(Request{Kind: Update, Pod: p}) }
func (b *bench) sync(p *v1.Pod)   { b.pool.Submit(Request{Kind: Sync, Pod: p}) }
func (b *bench) kill(p *v1.Pod)   { b.pool.Submit(Request{Kind: Kill, Pod: p}) }

func (b *bench) state(uid types.UID) State {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	if rec, ok := b.pool.records[uid]; ok {
		return rec.state
	}
	return 0
}

func (b *bench) phase(uid types.UID) v1.PodPhase {
	st, _ := b.store.Get(uid)
	return st.Phase
}

func wants(uids ...types.UID) func(types.UID) bool {
	return func(uid types.UID) bool { return slices.Contains(uids, uid) }
}

// lateCache answers GetNewerThan only after listed is closed.
type lateCache struct {
	*node
	listed chan struct{}
}

func (c lateCache) Get(uid types.UID) (status.ObservedPod, error) { return c.cache.Get(uid) }

func (c lateCache) Pods() ([]status.ObservedPod, time.Time) { return c.cache.Pods() }

func (c lateCache) GetNewerThan(ctx context.Context, uid types.UID, at time.Time) (status.ObservedPod, error) {
	select {
	case <-c.listed:
		return c.cache.GetNewerThan(ctx, uid, at)
	case <-ctx.Done():
		return status.ObservedPod{}, ctx.Err()
	}
}

// lyingRuntime reports that containers were stopped without stopping them.
type lyingRuntime struct{ *node }

func (lyingRuntime) StopContainer(context.Context, string, time.Duration) error { return nil }

func uidOf(s string) types.UID { return types.UID(s) }

func expectCalls(t *testing.T, b *bench, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, b.taken(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// syncFor acts as a sync loop for the time d: once a second it syncs the pod if the pod is due.
func syncFor(b *bench, p *v1.Pod, d time.Duration) {
	for range d / time.Second {
		time.Sleep(time.Second)
		if slices.Contains(b.pool.Due(), p.UID) {
			b.sync(p)
		}
		synctest.Wait()
	}
}

// housekeep acts for the time d as a sync loop that has no pods in its set: it asks for due
// pods without syncing them, and calls SyncKnownPods.
func (b *bench) housekeep(d time.Duration, wanted func(types.UID) bool) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(time.Second)
		b.pool.Due()
		synctest.Wait()
		time.Sleep(time.Second)
		b.pool.Due()
		b.pool.SyncKnownPods(wanted)
		synctest.Wait()
	}
}

// running adds a pod to the runtime whose containers all run.
func running(b *bench, p *v1.Pod) {
	b.change(p.UID, func(o *status.ObservedPod) {
		o.Name, o.Namespace = p.Name, p.Namespace
		o.Sandboxes = []status.ObservedSandbox{{
			ID: "s-" + string(p.UID), Ready: true, IPs: []string{"10.0.0.9"}, Annotations: p.Annotations,
		}}
		for i := range p.Spec.Containers {
			c := &p.Spec.Containers[i]
			o.Containers = append(o.Containers, status.ObservedContainer{
				ID: c.Name + "-" + string(p.UID), Name: c.Name, State: status.StateRunning, Hash: hash(c),
			})
		}
	})
}

func expectRunning(t *testing.T, b *bench, want map[string]bool) {
	t.Helper()
	synctest.Wait()
	for uid, runs := range want {
		if got := b.newest(uidOf(uid), "a").State == "running"; got != runs {
			t.Errorf("pod %s runs: %v, want %v", uid, got, runs)
		}
	}
}
