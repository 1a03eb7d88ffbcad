//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// atOnce is how soon the PLEG must deliver what the runtime reports, on a machine that also does
// other work. The runtime itself needs time to notice that a process has exited; toldWithin
// includes that time.
const (
	atOnce     = 200 * time.Millisecond
	toldWithin = 3 * time.Second
)

// watcher is a PLEG on a private runtime, with a record of its calls to the runtime.
type watcher struct {
	node
	*runtime.Runtime
	pleg  *pleg.Generator
	cache *pleg.Cache
	lists atomic.Int64

	mu        sync.Mutex
	inspected map[types.UID]int
	lags      []time.Duration
}

// Lag records the PLEG's lags; the other metrics are not needed here.
func (w *watcher) Lag(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lags = append(w.lags, d)
}

func (*watcher) Relisted(time.Duration)  {}
func (*watcher) Interval(time.Duration)  {}
func (*watcher) Inspected(time.Duration) {}
func (*watcher) StreamUp(bool)           {}
func (*watcher) Dropped(int)             {}

func (w *watcher) ListPods(ctx context.Context) ([]status.ObservedPod, error) {
	w.lists.Add(1)
	return w.Runtime.ListPods(ctx)
}

func (w *watcher) InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error) {
	w.mu.Lock()
	w.inspected[uid]++
	w.mu.Unlock()
	return w.Runtime.InspectPod(ctx, uid)
}

// startWatcher starts a watcher and waits until it relies on the runtime's events.
func startWatcher(t *testing.T) *watcher {
	t.Helper()
	n := startNode(t)
	client, err := runtime.Dial(n.Endpoint(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	logger := slog.New(slog.DiscardHandler)
	w := &watcher{node: n, cache: pleg.NewCache(), inspected: map[types.UID]int{}}
	w.Runtime = runtime.New(runtime.Config{Config: criconfig.Config{Installation: "events"}, Client: client, Logger: logger, Now: time.Now})
	w.pleg = pleg.New(pleg.Config{Runtime: w, Cache: w.cache, Logger: logger, Now: time.Now, Observer: w})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.pleg.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	w.streams(t)
	return w
}

// streams waits until the PLEG relies on the runtime's events.
func (w *watcher) streams(t *testing.T) {
	t.Helper()
	eventually(t, "the runtime's events", func(context.Context) error {
		if !w.pleg.Streaming() {
			return errors.New("they are not relied on")
		}
		return nil
	})
}

// marked makes a pod of the PLEG's installation, with a container that is not started.
func (w *watcher) marked(t *testing.T, name string) rawPod {
	t.Helper()
	labels := map[string]string{pod.LabelPodUID: name, pod.LabelPodName: name, pod.LabelPodNamespace: "default"}
	mark := map[string]string{pod.AnnotationInstallation: "events"}
	host := &criapi.NamespaceOption{Network: criapi.NamespaceMode_NODE}
	config := &criapi.PodSandboxConfig{
		Metadata: &criapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name},
		Labels:   labels, Annotations: mark, LogDirectory: t.TempDir(),
		Linux: &criapi.LinuxPodSandboxConfig{
			CgroupParent: "/" + w.Name() + "/" + name, SecurityContext: &criapi.LinuxSandboxSecurityContext{NamespaceOptions: host},
		},
	}
	sandbox, err := w.CRI.RunPodSandbox(t.Context(), &criapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	created, err := w.CRI.CreateContainer(t.Context(), &criapi.CreateContainerRequest{
		PodSandboxId: sandbox.GetPodSandboxId(), SandboxConfig: config,
		Config: &criapi.ContainerConfig{
			Metadata: &criapi.ContainerMetadata{Name: "web"}, Image: &criapi.ImageSpec{Image: webImage}, Args: []string{"sleep"},
			Labels: labels, Annotations: mark, LogPath: "web.log",
			Linux: &criapi.LinuxContainerConfig{SecurityContext: &criapi.LinuxContainerSecurityContext{NamespaceOptions: host}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rawPod{sandbox: sandbox.GetPodSandboxId(), container: created.GetContainerId(), config: config}
}

func (w *watcher) startContainer(t *testing.T, p rawPod) {
	t.Helper()
	if _, err := w.CRI.StartContainer(t.Context(), &criapi.StartContainerRequest{ContainerId: p.container}); err != nil {
		t.Fatal(err)
	}
}

// process returns the process ID of a container, as the runtime reports it.
func (w *watcher) process(t *testing.T, p rawPod) int {
	t.Helper()
	answer, err := w.CRI.ContainerStatus(t.Context(), &criapi.ContainerStatusRequest{ContainerId: p.container, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(answer.GetInfo()["info"]), &info); err != nil || info.PID <= 1 {
		t.Fatalf("the container's process is %d: %v", info.PID, err)
	}
	return info.PID
}

// told waits until the PLEG reports an event of this kind about a container, and returns how long
// that took.
func (w *watcher) told(t *testing.T, kind pleg.EventType, id string) time.Duration {
	t.Helper()
	begun := time.Now()
	timeout := time.After(patience)
	for {
		select {
		case e := <-w.pleg.Events():
			if e.Type == kind && e.ContainerID == id {
				return time.Since(begun)
			}
		case <-timeout:
			t.Fatalf("%s of %s is not told", kind, id)
		}
	}
}

func (w *watcher) toldSoon(t *testing.T, kind pleg.EventType, id string) {
	t.Helper()
	took := w.told(t, kind, id)
	t.Logf("%s after %s", kind, took.Round(time.Microsecond))
	if took > toldWithin {
		t.Errorf("%s was told after %s", kind, took)
	}
}

func TestWhatTheRuntimeTellsIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := startWatcher(t)
	lists := w.lists.Load()
	foreign := w.run(t, podSpec{name: "foreign", hostNetwork: true, args: []string{"sleep"}})

	p := w.marked(t, "events-ours")
	w.toldSoon(t, pleg.ContainerStarted, p.sandbox)
	w.startContainer(t, p)
	w.toldSoon(t, pleg.ContainerStarted, p.container)
	if err := syscall.Kill(w.process(t, p), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.toldSoon(t, pleg.ContainerDied, p.container)
	if seen, err := w.cache.Get("events-ours"); err != nil || len(seen.Containers) != 1 || seen.Containers[0].ExitCode != 137 {
		t.Errorf("the cache has %+v, %v", seen.Containers, err)
	}
	if _, err := w.CRI.RemoveContainer(t.Context(), &criapi.RemoveContainerRequest{ContainerId: p.container}); err != nil {
		t.Fatal(err)
	}
	w.toldSoon(t, pleg.ContainerRemoved, p.container)
	if _, err := w.CRI.StopPodSandbox(t.Context(), &criapi.StopPodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Fatal(err)
	}
	w.toldSoon(t, pleg.ContainerDied, p.sandbox)
	if _, err := w.CRI.RemovePodSandbox(t.Context(), &criapi.RemovePodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Fatal(err)
	}
	// containerd reports the removal before it has completed it.
	if took := w.told(t, pleg.ContainerRemoved, p.sandbox); took > 2*time.Second {
		t.Errorf("the sandbox's removal was told after %s", took)
	}
	if pods, _ := w.cache.Pods(); len(pods) != 0 {
		t.Errorf("%d pods are left", len(pods))
	}
	if n := w.lists.Load() - lists; n != 0 {
		t.Errorf("%d lists have come meanwhile", n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.inspected[types.UID(foreign.config.GetMetadata().GetUid())] + w.inspected[""]; n != 0 {
		t.Errorf("a foreign pod was inspected %d times", n)
	}
	slices.Sort(w.lags)
	t.Logf("%d inspections of our pod; from the runtime's event to ours it took %v", w.inspected["events-ours"], w.lags)
	if len(w.lags) < 4 || w.lags[len(w.lags)-1] > atOnce {
		t.Errorf("an event took longer than %s, or was not measured", atOnce)
	}
}

func TestARestartOfTheRuntimeLosesNoEvent(t *testing.T) {
	t.Parallel()
	w := startWatcher(t)
	p := w.marked(t, "events-restart")
	w.startContainer(t, p)
	w.told(t, pleg.ContainerStarted, p.container)
	process := w.process(t, p)

	if err := w.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	promptly(t, "the stream's loss", func(context.Context) error {
		if w.pleg.Streaming() {
			return errors.New("the events of a dead runtime are relied on")
		}
		return nil
	})
	if err := syscall.Kill(process, syscall.SIGKILL); err != nil { // no runtime runs that could report it
		t.Fatal(err)
	}
	lists := w.lists.Load()
	begun := time.Now()
	promptly(t, "lists in the place of the stream", func(context.Context) error {
		if n := w.lists.Load() - lists; n < 3 {
			return fmt.Errorf("there were %d", n)
		}
		return nil
	})
	if took := time.Since(begun); took < 1500*time.Millisecond || took > 5*time.Second {
		t.Errorf("three lists without a stream have taken %s, want one every second", took)
	}
	if err := w.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := w.told(t, pleg.ContainerDied, p.container); took > 5*time.Second {
		t.Errorf("a death without an event was found after %s", took)
	}
	w.streams(t)
	lists = w.lists.Load()
	again := w.marked(t, "events-again")
	w.startContainer(t, again)
	w.toldSoon(t, pleg.ContainerStarted, again.container)
	if n := w.lists.Load() - lists; n != 0 {
		t.Errorf("%d lists, back on the stream", n)
	}
	if err := w.pleg.Healthy(); err != nil {
		t.Error(fmt.Errorf("the PLEG is not healthy: %w", err))
	}
}

// A container whose start was canceled with its caller, such as a killed agent, has not run and
// exited.
func TestStartContainer_callerGoesAway(t *testing.T) {
	t.Parallel()
	w := startWatcher(t)
	interrupted := 0
	for after := 5 * time.Millisecond; after < 300*time.Millisecond; after += 25 * time.Millisecond {
		p := w.marked(t, "after-"+after.String())
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(after, cancel)
		_, err := w.CRI.StartContainer(ctx, &criapi.StartContainerRequest{ContainerId: p.container})
		timer.Stop()
		cancel()
		if err == nil {
			break // a start takes less time than that
		}
		shown := w.settled(t, p)
		observed, err := w.InspectPod(t.Context(), types.UID(p.config.GetMetadata().GetUid()))
		if err != nil || len(observed.Containers) != 1 {
			t.Fatalf("%+v, %v", observed, err)
		}
		if c := observed.Containers[0]; c.State == status.StateExited {
			t.Errorf("canceled after %s, the container counts as ended: %+v", after, c)
		} else if shown == criapi.ContainerState_CONTAINER_EXITED {
			interrupted++
		}
	}
	if interrupted == 0 {
		t.Error("no start broke off")
	}
}

// settled returns the state of a container whose start was canceled, once that state no longer
// changes.
func (w *watcher) settled(t *testing.T, p rawPod) criapi.ContainerState {
	t.Helper()
	for range 20 { // a start that never reached the runtime leaves the container unchanged
		answer, err := w.CRI.ContainerStatus(t.Context(), &criapi.ContainerStatusRequest{ContainerId: p.container})
		if err != nil {
			t.Fatal(err)
		}
		if state := answer.GetStatus().GetState(); state != criapi.ContainerState_CONTAINER_CREATED {
			return state
		}
		time.Sleep(slowPoll)
	}
	return criapi.ContainerState_CONTAINER_CREATED
}
