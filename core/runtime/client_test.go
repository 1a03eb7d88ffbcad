package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestDialRefusesWhatIsNoSocket(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", "run/x.sock", "tcp://127.0.0.1:1", "unix://run/x.sock", "unix:/run/x.sock"} {
		if _, err := Dial(endpoint, 0); err == nil {
			t.Errorf("endpoint %q is taken", endpoint)
		} else {
			expectError(t, err, "unix:///path/to/socket")
		}
	}
}

func dial(t *testing.T, endpoint string, timeout time.Duration) *Client {
	t.Helper()
	c, err := Dial(endpoint, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestDialTakesABarePath(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint()[len("unix://"):], 0)
	mustEqual(t, "endpoint", cri.Endpoint(), c.Endpoint())
	v, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "version", Version{Name: "fakecri", Version: "1.0.0", APIVersion: "v1"}, v)
}

func TestMissingRuntimeIsNamed(t *testing.T) {
	t.Parallel()
	endpoint := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	_, err := dial(t, endpoint, 0).Version(t.Context())
	expectError(t, err, "container runtime at "+endpoint+" does not answer: dial unix", "no such file or directory", "start it, or mend its endpoint")
	if !interrupted(err) {
		t.Error("a runtime that is away says something about what was asked for")
	}
}

func TestClientRecoversByItself(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	if _, err := c.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	cri.Stop()
	if _, err := c.Version(t.Context()); err == nil {
		t.Fatal("a runtime that is dead answers")
	}
	time.Sleep(3 * time.Second) // long enough for the back-off to reach its maximum
	if err := cri.Serve(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := c.Version(t.Context()); err == nil {
			return
		} else if time.Since(began) > 3*time.Second {
			t.Fatalf("3 s after the runtime came back: %v", err)
		}
	}
}

func TestRuntimeThatDiesDuringACall(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	asked := make(chan struct{})
	cri.Before("Version", func(ctx context.Context, _ any) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	})
	var killed sync.WaitGroup
	killed.Go(func() { <-asked; cri.Stop() })
	_, err := c.Version(t.Context())
	killed.Wait()
	expectError(t, err, "container runtime at "+cri.Endpoint()+" does not answer")
	if !interrupted(err) {
		t.Error("the call's failure is taken for the runtime's answer")
	}
}

func TestErrorsAreTheRuntimesOwnWords(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	cri.Fail("Version", status.Error(codes.Unavailable, "registry answered 503"))
	_, err := c.Version(t.Context())
	mustEqual(t, "error", "ask the runtime's version: registry answered 503", err.Error())
	if interrupted(err) {
		t.Error("an answer with the code Unavailable is taken for a runtime that is away")
	}
}

func TestCallThatTakesTooLong(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 50*time.Millisecond)
	cri.Delay("Version", time.Minute)
	_, err := c.Version(t.Context())
	expectError(t, err, cri.Endpoint()+" did not answer Version within ")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not context.DeadlineExceeded", err)
	}
}

// TestExec_thatTakesTooLong: a program that does not finish in time is a failure of the container.
// A runtime that does not answer is not.
func TestExec_thatTakesTooLong(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	r := New(Config{Client: dial(t, cri.Endpoint(), 50*time.Millisecond)})
	cri.Fail("ExecSync", status.Error(codes.DeadlineExceeded, "timeout 1s exceeded: context deadline exceeded"))
	if _, _, err := r.Exec(t.Context(), "c", []string{"true"}, time.Second); !errors.Is(err, handler.ErrTimeout) {
		t.Errorf("the runtime says that it has timed out: %v", err)
	}
	hung := fakecri.Start(t)
	r = New(Config{Client: dial(t, hung.Endpoint(), 50*time.Millisecond)})
	hung.Delay("ExecSync", time.Minute)
	_, _, err := r.Exec(t.Context(), "c", []string{"true"}, time.Second)
	if expectError(t, err, "did not answer ExecSync within "); errors.Is(err, handler.ErrTimeout) {
		t.Errorf("the runtime does not answer: %v", err)
	}
}

func TestCallerThatGivesUp(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cri.Before("Version", func(ctx context.Context, _ any) error { cancel(); <-ctx.Done(); return ctx.Err() })
	_, err := c.Version(ctx)
	if !errors.Is(err, context.Canceled) || !interrupted(err) {
		t.Errorf("%v is not context.Canceled", err)
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		request any
		want    time.Duration
	}{
		"an ordinary call":                   {&runtimeapi.CreateContainerRequest{}, 2 * time.Minute},
		"RunPodSandbox has twice the time":   {&runtimeapi.RunPodSandboxRequest{}, 4 * time.Minute},
		"StopContainer has the grace beside": {&runtimeapi.StopContainerRequest{Timeout: 30}, 2*time.Minute + 30*time.Second},
		"a checkpoint has its own time":      {&runtimeapi.CheckpointContainerRequest{Timeout: 600}, 10 * time.Minute},
		"a checkpoint has the usual time":    {&runtimeapi.CheckpointContainerRequest{Timeout: 1}, 2 * time.Minute},
		"PullImage has no limit":             {&runtimeapi.PullImageRequest{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "deadline", tc.want, deadline(tc.request, DefaultTimeout))
		})
	}
}

func TestLargeAnswersArrive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("large")
	p.Annotations = map[string]string{"large": string(make([]byte, 5<<20))}
	r.runSandbox(t, p)
	if _, err := r.ListPods(t.Context()); err != nil {
		t.Errorf("an answer of 5 MiB: %v", err)
	}
}

func TestAMessageTakesNoMoreThanTwiceItsSize(t *testing.T) {
	t.Parallel()
	for size := 16 << 10; size <= 1<<20; size += 5000 {
		buffer := mem.DefaultBufferPool().Get(size)
		if got := cap(*buffer); got > 2*size {
			t.Errorf("%d bytes take %d", size, got)
		}
		mem.DefaultBufferPool().Put(buffer)
	}
}

func TestHowLongACallMayTakeMayChange(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), time.Minute)
	left := make(chan time.Duration, 1)
	cri.Before("Version", func(ctx context.Context, _ any) error {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return nil
	})
	for _, limit := range []time.Duration{time.Minute, time.Hour, 10 * time.Second} {
		c.SetTimeout(limit)
		if _, err := c.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got > limit || got < limit-5*time.Second {
			t.Errorf("a call may take %s, want %s", got, limit)
		}
	}
}

func TestOperationsAreCalledAsAKubeletCallsThem(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		runtimeapi.RuntimeService_Version_FullMethodName:                   "version",
		runtimeapi.RuntimeService_Status_FullMethodName:                    "status",
		runtimeapi.RuntimeService_RunPodSandbox_FullMethodName:             "run_podsandbox",
		runtimeapi.RuntimeService_StopPodSandbox_FullMethodName:            "stop_podsandbox",
		runtimeapi.RuntimeService_RemovePodSandbox_FullMethodName:          "remove_podsandbox",
		runtimeapi.RuntimeService_PodSandboxStatus_FullMethodName:          "podsandbox_status",
		runtimeapi.RuntimeService_ListPodSandbox_FullMethodName:            "list_podsandbox",
		runtimeapi.RuntimeService_CreateContainer_FullMethodName:           "create_container",
		runtimeapi.RuntimeService_StartContainer_FullMethodName:            "start_container",
		runtimeapi.RuntimeService_StopContainer_FullMethodName:             "stop_container",
		runtimeapi.RuntimeService_RemoveContainer_FullMethodName:           "remove_container",
		runtimeapi.RuntimeService_ListContainers_FullMethodName:            "list_containers",
		runtimeapi.RuntimeService_ContainerStatus_FullMethodName:           "container_status",
		runtimeapi.RuntimeService_UpdateContainerResources_FullMethodName:  "update_container",
		runtimeapi.RuntimeService_UpdatePodSandboxResources_FullMethodName: "update_podsandbox_resources",
		runtimeapi.RuntimeService_ReopenContainerLog_FullMethodName:        "reopen_container_log",
		runtimeapi.RuntimeService_ExecSync_FullMethodName:                  "exec_sync",
		runtimeapi.RuntimeService_ListPodSandboxStats_FullMethodName:       "list_podsandbox_stats",
		runtimeapi.ImageService_ListImages_FullMethodName:                  "list_images",
		runtimeapi.ImageService_ImageStatus_FullMethodName:                 "image_status",
		runtimeapi.ImageService_PullImage_FullMethodName:                   "pull_image",
		runtimeapi.ImageService_RemoveImage_FullMethodName:                 "remove_image",
		runtimeapi.ImageService_ImageFsInfo_FullMethodName:                 "image_fs_info",
	} {
		if got := operation(method); got != want {
			t.Errorf("%s is %q, want %q", method, got, want)
		}
	}
}

// calls records the calls that are reported to an observer.
type calls struct {
	mu   sync.Mutex
	told []string
}

func (c *calls) Called(operation string, took time.Duration, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if took <= 0 {
		operation += " in no time"
	}
	if failed {
		operation += " failed"
	}
	c.told = append(c.told, operation)
}

func TestAnObserverIsToldOfEveryCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ endpoint, want string }{
		"that is answered":                 {fakecri.Start(t).Endpoint(), "version"},
		"to a runtime that does not exist": {"unix:///nowhere/x.sock", "version failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := &calls{}
			client, err := Dial(test.endpoint, time.Minute, WithObserver(told))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, _ = client.Version(t.Context()) // the observer reports the outcome
			if want := []string{test.want}; !slices.Equal(told.told, want) {
				t.Errorf("told of %q, want %q", told.told, want)
			}
		})
	}
}

const (
	// refusal is the error of runc if the runtime's cgroup driver is systemd.
	refusal = `expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups`
	remedy  = "the runtime's cgroup driver is systemd, the agent's is cgroupfs, so no pod can start: set SystemdCgroup = false in containerd's configuration and restart containerd"
)

func TestSetPodCIDR(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	err := dial(t, cri.Endpoint(), time.Minute).SetPodCIDR(t.Context(), "10.1.0.0/24,fd00::/64")
	if got := cri.PodCIDR(); err != nil || got != "10.1.0.0/24,fd00::/64" {
		t.Errorf("the runtime knows %q, %v", got, err)
	}
}

func TestCgroupDriver_isWhatTheRuntimeReports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*fakecri.Server)
		want    string
		fails   bool
	}{
		"cgroupfs":              {func(*fakecri.Server) {}, "cgroupfs", false},
		"systemd":               {func(s *fakecri.Server) { s.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum()) }, "systemd", false},
		"nothing of Linux":      {func(s *fakecri.Server) { s.SetCgroupDriver(nil) }, "", false},
		"a driver of a new API": {func(s *fakecri.Server) { s.SetCgroupDriver(runtimeapi.CgroupDriver(7).Enum()) }, "", false},
		"no such call": {func(s *fakecri.Server) {
			s.Fail("RuntimeConfig", status.Error(codes.Unimplemented, "unknown method RuntimeConfig"))
		}, "", false},
		"an error": {func(s *fakecri.Server) { s.Fail("RuntimeConfig", status.Error(codes.Unknown, "broken")) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			test.prepare(cri)
			got, err := dial(t, cri.Endpoint(), time.Minute).CgroupDriver(t.Context())
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("driver %q, error %v; want %q, an error: %v", got, err, test.want, test.fails)
			}
		})
	}
}

func TestDriverMismatch_needsTwoKnownDrivers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ runtimes, agents, want string }{
		{"cgroupfs", "cgroupfs", ""},
		{"", "cgroupfs", ""},
		{"systemd", "cgroupfs", "set SystemdCgroup = false"},
		{"cgroupfs", "systemd", "set SystemdCgroup = true"},
	} {
		err := DriverMismatch(test.runtimes, test.agents)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// startEach lets each call of a start fail once and returns the errors by method.
func startEach(t *testing.T, r *rig) map[string]error {
	t.Helper()
	r.cri.Load(appImage, 1000, fakecri.Program{})
	p, errs := newPod("web"), map[string]error{}
	refuse := status.Error(codes.Unknown, refusal)
	r.cri.FailTimes("RunPodSandbox", 1, refuse)
	_, errs["RunPodSandbox"] = r.RunSandbox(t.Context(), sandboxRun(p))
	sandbox := r.runSandbox(t, p)
	for _, method := range []string{"CreateContainer", "StartContainer"} {
		r.cri.FailTimes(method, 1, refuse)
		_, errs[method] = r.StartContainer(t.Context(), containerRun(p, sandbox, uint32(len(errs))))
	}
	return errs
}

func TestStart_isExplainedByTheRuntimesDriver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agents   string
		prepare  func(*fakecri.Server)
		explains bool
	}{
		"another driver": {"cgroupfs", func(s *fakecri.Server) { s.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum()) }, true},
		"the same":       {"cgroupfs", func(*fakecri.Server) {}, false},
		"not reported":   {"cgroupfs", func(s *fakecri.Server) { s.SetCgroupDriver(nil) }, false},
		"not compared":   {"", func(s *fakecri.Server) { s.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum()) }, false},
		"no answer": {"cgroupfs", func(s *fakecri.Server) {
			s.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
			s.Fail("RuntimeConfig", status.Error(codes.Unknown, "broken"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.CgroupDriver = test.agents
			test.prepare(r.cri)
			for method, err := range startEach(t, r) {
				expectError(t, err, refusal)
				if got := strings.Contains(err.Error(), remedy); got != test.explains {
					t.Errorf("%s: %v; want the remedy: %v", method, err, test.explains)
				}
			}
		})
	}
}

func TestStart_explanationKeepsTheRuntimesCode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.CgroupDriver = driverCgroupfs
	r.cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
	r.cri.Fail("RunPodSandbox", status.Error(codes.NotFound, refusal))
	if _, err := r.RunSandbox(t.Context(), sandboxRun(newPod("web"))); !isNotFound(err) {
		t.Errorf("the code of %v is lost", err)
	}
}

func TestStart_ofARuntimeThatIsAwayIsNotExplained(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.CgroupDriver = driverCgroupfs
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.RunSandbox(ctx, sandboxRun(newPod("web"))); err == nil || r.cri.Count("RuntimeConfig") > 0 {
		t.Errorf("%v; the runtime is asked %d times", err, r.cri.Count("RuntimeConfig"))
	}
}
