package runtime

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

const (
	// refusal is what runc says where the runtime's driver is systemd.
	refusal = `expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups`
	remedy  = "the runtime's cgroup driver is systemd, the agent's is cgroupfs, so no pod can start: set SystemdCgroup = false in containerd's configuration and restart containerd"
)

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

// startEach fails one call of a start after the other and returns the errors.
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
