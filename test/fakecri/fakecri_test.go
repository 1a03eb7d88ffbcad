package fakecri

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// caller is a server and the clients that talk to it.
type caller struct {
	*Server
	runtime runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
}

func start(t *testing.T) caller {
	t.Helper()
	s := Start(t)
	conn, err := grpc.NewClient(s.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return caller{s, runtimeapi.NewRuntimeServiceClient(conn), runtimeapi.NewImageServiceClient(conn)}
}

func (c caller) sandbox(t *testing.T, name string, attempt uint32) (string, error) {
	t.Helper()
	answer, err := c.runtime.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{
		Metadata:     &runtimeapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: "uid-" + name, Attempt: attempt},
		Labels:       map[string]string{"name": name},
		LogDirectory: t.TempDir(),
	}})
	return answer.GetPodSandboxId(), err
}

func (c caller) create(t *testing.T, sandbox, image string, attempt uint32) (string, error) {
	t.Helper()
	answer, err := c.runtime.CreateContainer(t.Context(), &runtimeapi.CreateContainerRequest{PodSandboxId: sandbox, Config: &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "app", Attempt: attempt},
		Image:    &runtimeapi.ImageSpec{Image: image},
		LogPath:  "app.log",
	}})
	return answer.GetContainerId(), err
}

// running returns a container that runs a program.
func (c caller) running(t *testing.T, program Program) (sandbox, id string) {
	t.Helper()
	c.Load("app:1", 1, program)
	sandbox, err := c.sandbox(t, "web", 0)
	if err != nil {
		t.Fatal(err)
	}
	if id, err = c.create(t, sandbox, ImageID("app:1"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.runtime.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		t.Fatal(err)
	}
	return sandbox, id
}

func (c caller) status(t *testing.T, id string) *runtimeapi.ContainerStatus {
	t.Helper()
	answer, err := c.runtime.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	return answer.GetStatus()
}

func wantCode(t *testing.T, what string, want codes.Code, err error) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func wantExit(t *testing.T, s *runtimeapi.ContainerStatus, code int32, reason string) {
	t.Helper()
	if s.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED || s.GetExitCode() != code || s.GetReason() != reason || s.GetFinishedAt() == 0 {
		t.Errorf("container is %v, code %d, reason %q, finished %d; want exited, %d, %q", s.GetState(), s.GetExitCode(), s.GetReason(), s.GetFinishedAt(), code, reason)
	}
}

func TestNamesAreReservedUntilRemoved(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.Load("app:1", 1, Program{})
	box, err := c.sandbox(t, "web", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.sandbox(t, "web", 0)
	wantCode(t, "the same sandbox again", codes.FailedPrecondition, err)
	_, err = c.sandbox(t, "web", 1)
	wantCode(t, "the next attempt", codes.OK, err)

	_, err = c.create(t, box, "app:1", 0)
	wantCode(t, "a container", codes.OK, err)
	_, err = c.create(t, box, "app:1", 0)
	wantCode(t, "the same container again", codes.FailedPrecondition, err)

	if _, err := c.runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: box}); err != nil {
		t.Fatal(err)
	}
	_, err = c.sandbox(t, "web", 0)
	wantCode(t, "after it was removed", codes.OK, err)
}

func TestWhatIsUnknown(t *testing.T) {
	t.Parallel()
	c := start(t)
	ctx := t.Context()
	_, err := c.runtime.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: "x"})
	wantCode(t, "sandbox status", codes.NotFound, err)
	_, err = c.runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: "x"})
	wantCode(t, "container status", codes.NotFound, err)
	_, err = c.runtime.StartContainer(ctx, &runtimeapi.StartContainerRequest{ContainerId: "x"})
	wantCode(t, "start", codes.NotFound, err)
	_, err = c.create(t, "x", "app:1", 0)
	wantCode(t, "create", codes.NotFound, err)
	_, err = c.runtime.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: "x"})
	wantCode(t, "stop sandbox", codes.OK, err)
	_, err = c.runtime.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: "x"})
	wantCode(t, "remove sandbox", codes.OK, err)
	_, err = c.runtime.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: "x"})
	wantCode(t, "stop container", codes.OK, err)
	_, err = c.runtime.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: "x"})
	wantCode(t, "remove container", codes.OK, err)
	_, err = c.runtime.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: "x"})
	wantCode(t, "what the fake does not do", codes.Unimplemented, err)
}

func TestCreateWantsAReadySandboxAndAnImage(t *testing.T) {
	t.Parallel()
	c := start(t)
	box, err := c.sandbox(t, "web", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.create(t, box, "app:1", 0)
	wantCode(t, "without the image", codes.NotFound, err)
	c.Load("app:1", 1, Program{})
	c.KillSandbox(box)
	_, err = c.create(t, box, "app:1", 0)
	wantCode(t, "in a dead sandbox", codes.Unknown, err)
}

func TestProgramsEndByThemselves(t *testing.T) {
	t.Parallel()
	c := start(t)
	var mu sync.Mutex
	now := time.Unix(1000, 0)
	c.SetNow(func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	_, id := c.running(t, Program{Exits: true, After: time.Minute, Code: 4})
	if got := c.status(t, id).GetState(); got != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Errorf("before its time: %v", got)
	}
	mu.Lock()
	now = now.Add(time.Hour)
	mu.Unlock()
	got := c.status(t, id)
	wantExit(t, got, 4, "Error")
	if want := time.Unix(1060, 0).UnixNano(); got.GetFinishedAt() != want {
		t.Errorf("finished at %d, want %d", got.GetFinishedAt(), want)
	}
}

func TestWaysToEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		program Program
		end     func(c caller, sandbox, id string) error
		code    int32
		reason  string
	}{
		"Exit": {end: func(c caller, _, id string) error { c.Exit(id, 0); return nil }, reason: "Completed"},
		"StopContainer": {end: func(c caller, _, id string) error {
			_, err := c.runtime.StopContainer(context.Background(), &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: 60})
			return err
		}, code: 143, reason: "Error"},
		"StopContainer, signal ignored": {program: Program{IgnoresTerm: true}, end: func(c caller, _, id string) error {
			_, err := c.runtime.StopContainer(context.Background(), &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: 1})
			return err
		}, code: 137, reason: "Error"},
		"StopPodSandbox": {end: func(c caller, sandbox, _ string) error {
			_, err := c.runtime.StopPodSandbox(context.Background(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: sandbox})
			return err
		}, code: 137, reason: "Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			sandbox, id := c.running(t, tc.program)
			if err := tc.end(c, sandbox, id); err != nil {
				t.Fatal(err)
			}
			wantExit(t, c.status(t, id), tc.code, tc.reason)
		})
	}
}

func TestStartThatFails(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.Load("app:1", 1, Program{StartError: "exec: no such file"})
	box, err := c.sandbox(t, "web", 0)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.create(t, box, "app:1", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.runtime.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: id})
	wantCode(t, "start", codes.Unknown, err)
	wantExit(t, c.status(t, id), 128, "StartError")
}

func TestLogsAreInTheCRIFormat(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.SetNow(func() time.Time { return time.Unix(0, 0).UTC() })
	_, id := c.running(t, Program{Log: []string{"hello", "world"}})
	got, err := os.ReadFile(c.status(t, id).GetLogPath())
	if err != nil {
		t.Fatal(err)
	}
	want := "1970-01-01T00:00:00Z stdout F hello\n1970-01-01T00:00:00Z stdout F world\n"
	if string(got) != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

func TestListsAreFiltered(t *testing.T) {
	t.Parallel()
	c := start(t)
	_, id := c.running(t, Program{})
	dead, err := c.sandbox(t, "dead", 0)
	if err != nil {
		t.Fatal(err)
	}
	c.KillSandbox(dead)
	for name, tc := range map[string]struct {
		filter *runtimeapi.PodSandboxFilter
		want   int
	}{
		"all":      {nil, 2},
		"by ID":    {&runtimeapi.PodSandboxFilter{Id: dead}, 1},
		"by state": {&runtimeapi.PodSandboxFilter{State: &runtimeapi.PodSandboxStateValue{State: runtimeapi.PodSandboxState_SANDBOX_READY}}, 1},
		"by label": {&runtimeapi.PodSandboxFilter{LabelSelector: map[string]string{"name": "web"}}, 1},
		"by two":   {&runtimeapi.PodSandboxFilter{Id: dead, LabelSelector: map[string]string{"name": "web"}}, 0},
	} {
		answer, err := c.runtime.ListPodSandbox(t.Context(), &runtimeapi.ListPodSandboxRequest{Filter: tc.filter})
		if err != nil || len(answer.GetItems()) != tc.want {
			t.Errorf("sandboxes %s: %v, %v; want %d", name, answer.GetItems(), err, tc.want)
		}
	}
	for name, tc := range map[string]struct {
		filter *runtimeapi.ContainerFilter
		want   int
	}{
		"all":        {nil, 1},
		"by ID":      {&runtimeapi.ContainerFilter{Id: id}, 1},
		"by sandbox": {&runtimeapi.ContainerFilter{PodSandboxId: dead}, 0},
		"by state":   {&runtimeapi.ContainerFilter{State: &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_EXITED}}, 0},
		"by label":   {&runtimeapi.ContainerFilter{LabelSelector: map[string]string{"a": "b"}}, 0},
	} {
		answer, err := c.runtime.ListContainers(t.Context(), &runtimeapi.ListContainersRequest{Filter: tc.filter})
		if err != nil || len(answer.GetContainers()) != tc.want {
			t.Errorf("containers %s: %v, %v; want %d", name, answer.GetContainers(), err, tc.want)
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	c := start(t)
	ctx := t.Context()
	spec := &runtimeapi.ImageSpec{Image: "app:1"}
	present := func(ref string) bool {
		t.Helper()
		answer, err := c.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetImage() != nil
	}
	_, err := c.images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec})
	wantCode(t, "pull of what is not published", codes.NotFound, err)
	c.Publish("app:1", 7, Program{})
	if present("app:1") {
		t.Error("present before it was pulled")
	}
	pulled, err := c.images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec})
	if err != nil || pulled.GetImageRef() != ImageID("app:1") {
		t.Errorf("pull: %v, %v", pulled, err)
	}
	if !present("app:1") || !present(ImageID("app:1")) {
		t.Error("not present by name and ID")
	}
	listed, err := c.images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil || len(listed.GetImages()) != 1 || !present(listed.GetImages()[0].GetRepoDigests()[0]) {
		t.Errorf("list: %v, %v", listed, err)
	}
	for range 2 {
		if _, err := c.images.RemoveImage(ctx, &runtimeapi.RemoveImageRequest{Image: spec}); err != nil {
			t.Error(err)
		}
	}
	if present("app:1") {
		t.Error("present after it was removed")
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	c := start(t)
	ask := func(ctx context.Context) error {
		_, err := c.runtime.Version(ctx, &runtimeapi.VersionRequest{})
		return err
	}
	c.FailTimes("Version", 1, status.Error(codes.Internal, "once"))
	wantCode(t, "the first", codes.Internal, ask(t.Context()))
	wantCode(t, "the second", codes.OK, ask(t.Context()))
	c.Fail("Version", status.Error(codes.Internal, "always"))
	wantCode(t, "while it fails", codes.Internal, ask(t.Context()))
	c.Clear("Version")
	wantCode(t, "cleared", codes.OK, ask(t.Context()))
	c.Delay("Version", time.Minute)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	wantCode(t, "delayed", codes.DeadlineExceeded, ask(short))
	if got := c.Count("Version"); got != 5 {
		t.Errorf("%d calls on record, want 5", got)
	}
	c.ForgetCalls()
	if got := c.Calls(); len(got) != 0 {
		t.Errorf("calls after they were forgotten: %v", got)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	c := start(t)
	_, id := c.running(t, Program{})
	c.Stop()
	_, err := c.runtime.Version(t.Context(), &runtimeapi.VersionRequest{})
	wantCode(t, "while it is away", codes.Unavailable, err)
	if err := c.Serve(); err != nil {
		t.Fatal(err)
	}
	answer, err := c.runtime.ContainerStatus(t.Context(), &runtimeapi.ContainerStatusRequest{ContainerId: id}, grpc.WaitForReady(true))
	if err != nil || answer.GetStatus().GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Errorf("after the restart: %v, %v", answer, err)
	}
}

func TestServingTwiceOrNowhereFails(t *testing.T) {
	t.Parallel()
	c := start(t)
	if err := c.Serve(); err == nil {
		t.Error("a server serves twice")
	}
	if err := New(filepath.Join(t.TempDir(), "none", "s")).Serve(); err == nil {
		t.Error("a server listens where no directory is")
	}
}

func TestSandboxWithoutNetwork(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.SetReady(true, false)
	_, err := c.sandbox(t, "web", 0)
	wantCode(t, "with a network of its own", codes.Unknown, err)
}
