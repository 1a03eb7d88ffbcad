package runtime

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestForeignKubelet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := func(name string, labels map[string]string) {
		t.Helper()
		for attempt := range uint32(2) {
			if _, err := r.config.Client.runtime.RunPodSandbox(context.Background(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{
				Metadata: &runtimeapi.PodSandboxMetadata{Name: name, Uid: name, Attempt: attempt}, Labels: labels,
			}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(pods int, kubelet bool) {
		t.Helper()
		if got, err := r.Foreign(t.Context()); err != nil || got != pods {
			t.Errorf("%d foreign pods, %v; want %d", got, err, pods)
		}
		if got, err := r.ForeignKubelet(t.Context()); err != nil || got != kubelet {
			t.Errorf("kubelet %v, %v; want %v", got, err, kubelet)
		}
	}
	check(0, false)
	run("by-hand", nil)
	check(1, false)
	run("a-kubelets", map[string]string{pod.LabelPodUID: "a-kubelets"})
	check(2, true)

	r.cri.Fail("ListPodSandbox", grpcstatus.Error(codes.Unknown, "broken"))
	_, err := r.Foreign(t.Context())
	expectError(t, err, "list sandboxes: broken")
	_, err = r.ForeignKubelet(t.Context())
	expectError(t, err, "list sandboxes: broken")
}

// locked is a log that can be read while it is written.
type locked struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestLogDriver_namesTheRemedyOfAnotherDriver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agents string
		driver *runtimeapi.CgroupDriver
		want   string
	}{
		"another":      {driverCgroupfs, runtimeapi.CgroupDriver_SYSTEMD.Enum(), "set SystemdCgroup = false in containerd's configuration and restart containerd"},
		"the same":     {driverCgroupfs, runtimeapi.CgroupDriver_CGROUPFS.Enum(), ""},
		"not reported": {driverCgroupfs, nil, ""},
		"not compared": {"", runtimeapi.CgroupDriver_SYSTEMD.Enum(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.SetCgroupDriver(test.driver)
			var log locked
			r.config.CgroupDriver, r.config.Logger = test.agents, slog.New(slog.NewTextHandler(&log, nil))
			r.logDriver(t.Context())
			if got := log.String(); strings.Contains(got, "level=ERROR") != (test.want != "") || !strings.Contains(got, test.want) {
				t.Errorf("log %q, want %q", got, test.want)
			}
		})
	}
}

func TestWatchForeign_logsWhatIsInTheWayAndWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.config.Client.runtime.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "theirs", Uid: "u"}, Labels: map[string]string{pod.LabelPodUID: "u"},
	}}); err != nil {
		t.Fatal(err)
	}
	r.cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
	var log locked
	r.config.CgroupDriver, r.config.Logger = driverCgroupfs, slog.New(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { r.WatchForeign(ctx) })
	for range 1000 {
		if strings.Contains(log.String(), "no pod can start") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	watching.Wait()
	want := []string{"level=WARN msg=\"" + KubeletWarning + "\"", "level=ERROR msg=\"no pod can start\""}
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	if len(lines) != len(want) || !strings.Contains(lines[0], want[0]) || !strings.Contains(lines[1], want[1]) {
		t.Errorf("log %q, want %q", lines, want)
	}
}
