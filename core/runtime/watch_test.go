package runtime

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

// watching is a running call of WatchPods.
type watching struct {
	changes chan status.PodChange
	ended   chan error
	stop    func()
}

// follow starts WatchPods and waits until the runtime sends events.
func follow(t *testing.T, r *Runtime, cri *fakecri.Server) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{make(chan status.PodChange, 100), make(chan error, 1), cancel}
	opened := make(chan struct{})
	before := cri.Listeners()
	go func() {
		w.ended <- r.WatchPods(ctx, func() { close(opened) }, func(c status.PodChange) { w.changes <- c })
	}()
	t.Cleanup(cancel)
	select {
	case <-opened:
	case err := <-w.ended:
		t.Fatalf("the stream was not opened: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); cri.Listeners() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the runtime has nobody to tell")
		}
	}
	return w
}

// next returns the next change, without its time.
func (w *watching) next(t *testing.T) status.PodChange {
	t.Helper()
	select {
	case c := <-w.changes:
		if age := time.Since(c.At); age < 0 || age > time.Minute {
			t.Errorf("it happened %s ago", age)
		}
		c.At = time.Time{}
		return c
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is told")
		panic("not reached")
	}
}

func TestWatchPodsTellsWhatHappens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := follow(t, r.Runtime, r.cri)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{})
	sandbox := r.cri.Calls("CreateContainer")[0].Request.(*runtimeapi.CreateContainerRequest).GetPodSandboxId()
	r.cri.Exit(id, 1)
	if err := r.RemoveContainer(t.Context(), p.UID, id); err != nil {
		t.Fatal(err)
	}
	if err := r.StopSandbox(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveSandbox(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	for _, want := range []status.PodChange{
		{UID: p.UID, ID: sandbox, Kind: status.ChangeCreated},
		{UID: p.UID, ID: sandbox, Kind: status.ChangeVisible}, // started
		{UID: p.UID, ID: id, Kind: status.ChangeCreated},
		{UID: p.UID, ID: id, Kind: status.ChangeVisible},      // started
		{UID: p.UID, ID: id, Kind: status.ChangeVisible},      // ended
		{UID: p.UID, ID: id, Kind: status.ChangeVisible},      // removed
		{UID: p.UID, ID: sandbox, Kind: status.ChangeVisible}, // stopped
		{UID: p.UID, ID: sandbox, Kind: status.ChangeRemoving},
	} {
		mustEqual(t, "change", want, w.next(t))
	}
}

func TestWatchPodsTellsOfAProgramThatEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := follow(t, r.Runtime, r.cri)
	r.start(t, newPod("web"), fakecri.Program{Exits: true, After: 10 * time.Millisecond})
	for range 5 {
		w.next(t)
	}
}

func TestWatchPodsLeavesOutWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := *r
	other.Runtime = connect(t, r.cri, t.TempDir(), "install-2")
	w := follow(t, r.Runtime, r.cri)
	other.start(t, newPod("theirs"), fakecri.Program{})
	ours := newPod("ours")
	r.runSandbox(t, ours)
	if c := w.next(t); c.UID != ours.UID {
		t.Errorf("told of %s", c.UID)
	}
}

func TestWatchPodsOfWhatAKubeletMade(t *testing.T) {
	t.Parallel()
	event := func(annotations map[string]string) *runtimeapi.ContainerEventResponse {
		return &runtimeapi.ContainerEventResponse{ContainerId: "c", PodSandboxStatus: &runtimeapi.PodSandboxStatus{
			Metadata: &runtimeapi.PodSandboxMetadata{Uid: "u"}, Labels: map[string]string{pod.LabelPodUID: "u"}, Annotations: annotations,
		}}
	}
	r := newRig(t)
	if _, ok := r.change(event(nil)); ok {
		t.Error("it is told of where nothing is adopted")
	}
	r.config.AdoptForeign = true
	if _, ok := r.change(event(nil)); !ok {
		t.Error("it is not told of where it is adopted")
	}
	if _, ok := r.change(event(map[string]string{pod.AnnotationInstallation: "install-2"})); ok {
		t.Error("a pod of another installation is told of")
	}
}

func TestEventOfASandboxThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stopped := runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT
	deleted := runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT
	container := func(installation string) *runtimeapi.ContainerStatus {
		return &runtimeapi.ContainerStatus{
			Labels:      map[string]string{pod.LabelPodUID: "u"},
			Annotations: map[string]string{pod.AnnotationInstallation: installation},
		}
	}
	for _, tt := range []struct {
		name  string
		event *runtimeapi.ContainerEventResponse
		want  status.PodChange
		ours  bool
	}{
		{"its ID is all there is", &runtimeapi.ContainerEventResponse{ContainerId: "s", ContainerEventType: deleted}, status.PodChange{ID: "s", Kind: status.ChangeRemoving}, true},
		{"a container says whose it was", &runtimeapi.ContainerEventResponse{
			ContainerId: "s", ContainerEventType: stopped, ContainersStatuses: []*runtimeapi.ContainerStatus{container("install-1")},
		}, status.PodChange{UID: types.UID("u"), ID: "s", Kind: status.ChangeVisible}, true},
		{"a container says that it was not ours", &runtimeapi.ContainerEventResponse{
			ContainerId: "s", ContainerEventType: stopped, ContainersStatuses: []*runtimeapi.ContainerStatus{container("install-2")},
		}, status.PodChange{UID: types.UID("u"), ID: "s", Kind: status.ChangeVisible}, false},
	} {
		got, ours := r.change(tt.event)
		mustEqual(t, tt.name, tt.want, got)
		mustEqual(t, tt.name, tt.ours, ours)
	}
}

func TestWhyWatchPodsEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(w *watching, cri *fakecri.Server)
		want error // nil if the error is none of the others
	}{
		{"the stream breaks", func(_ *watching, cri *fakecri.Server) { cri.BreakEvents() }, nil},
		{"the runtime dies", func(_ *watching, cri *fakecri.Server) { cri.Stop() }, nil},
		{"the caller gives up", func(w *watching, _ *fakecri.Server) { w.stop() }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			w := follow(t, r.Runtime, r.cri)
			tt.do(w, r.cri)
			err := <-w.ended
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && errors.Is(err, status.ErrNoEvents) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
	r := newRig(t)
	r.cri.Fail("GetContainerEvents", grpcstatus.Error(codes.Unimplemented, "unknown method GetContainerEvents"))
	if err := r.WatchPods(t.Context(), func() {}, nil); !errors.Is(err, status.ErrNoEvents) {
		t.Errorf("a runtime without events: %v", err)
	}
}

func TestWatchPodsOfASilentStreamWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := follow(t, r.Runtime, r.cri)
	r.cri.MuteEvents(true)
	silent := newPod("silent")
	r.runSandbox(t, silent)
	r.cri.MuteEvents(false)
	loud := newPod("loud")
	r.runSandbox(t, loud)
	if c := w.next(t); c.UID != loud.UID {
		t.Errorf("told of %s", c.UID)
	}
}
