package preflight

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestCheckRuntime(t *testing.T) {
	t.Parallel()
	const well = "ok runtime ENDPOINT: fakecri 1.0.0"
	ours := map[string]string{pod.AnnotationInstallation: "us"}
	others := map[string]string{pod.AnnotationInstallation: "them"}
	for name, test := range map[string]struct {
		prepare func(*testing.T, *fakecri.Server)
		want    []string
	}{
		"that is empty": {func(*testing.T, *fakecri.Server) {}, []string{well}},
		"with our pods": {
			func(t *testing.T, cri *fakecri.Server) {
				t.Helper()
				sandbox(t, cri, "a", kubeletLabels("a"), ours)
			},
			[]string{well},
		},
		"with one pod of another Wardlet": {
			func(t *testing.T, cri *fakecri.Server) {
				t.Helper()
				sandbox(t, cri, "a", kubeletLabels("a"), others)
			},
			[]string{well, "warn runtime: 1 foreign pod; not touched"},
		},
		"with pods of a kubelet": {
			func(t *testing.T, cri *fakecri.Server) {
				t.Helper()
				sandbox(t, cri, "a", kubeletLabels("a"), nil)
				sandbox(t, cri, "b", nil, nil)
				sandbox(t, cri, "c", kubeletLabels("c"), ours)
			},
			[]string{well, "warn runtime: 2 foreign pods; not touched", "warn runtime: " + runtime.KubeletWarning},
		},
		"without a network": {
			func(_ *testing.T, cri *fakecri.Server) { cri.SetReady(true, false) },
			[]string{well, "warn runtime: network is not ready: NetworkReadyMissing: the test says so; until it is, only pods with hostNetwork start"},
		},
		"that is not ready": {
			func(_ *testing.T, cri *fakecri.Server) { cri.SetReady(false, false) },
			[]string{"fail runtime ENDPOINT: container runtime at ENDPOINT is not ready: RuntimeReadyMissing: the test says so; waiting"},
		},
		"that is away": {
			func(_ *testing.T, cri *fakecri.Server) { cri.Stop() },
			[]string{"fail runtime ENDPOINT: ask the runtime's version: container runtime at ENDPOINT does not answer: dial unix SOCKET: connect: no such file or directory; start it, or mend its endpoint in agent.toml"},
		},
		"whose cgroup driver is another": {
			func(_ *testing.T, cri *fakecri.Server) {
				cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
			},
			[]string{well, "fail runtime: the runtime's cgroup driver is systemd, the agent's is cgroupfs, so no pod can start: " +
				"set SystemdCgroup = false in containerd's configuration and restart containerd"},
		},
		"whose cgroup driver the agent takes": {
			func(_ *testing.T, cri *fakecri.Server) { cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum()) },
			[]string{well},
		},
		"that reports no cgroup driver": {
			func(_ *testing.T, cri *fakecri.Server) { cri.SetCgroupDriver(nil) },
			[]string{well, "warn runtime: its cgroup driver is not known (the runtime does not report it, as containerd before 2.0); unless it is cgroupfs, no pod starts: name it in runtime.cgroup_driver"},
		},
		"that reports no cgroup driver, with a fallback": {
			func(_ *testing.T, cri *fakecri.Server) { cri.SetCgroupDriver(nil) },
			[]string{well, "warn runtime: its cgroup driver is not known (the runtime does not report it, as containerd before 2.0); unless it is systemd, no pod starts: name it in runtime.cgroup_driver"},
		},
		"that lacks the question for the cgroup driver": {
			func(_ *testing.T, cri *fakecri.Server) {
				cri.Fail("RuntimeConfig", status.Error(codes.Unimplemented, "unknown method RuntimeConfig for service runtime.v1.RuntimeService"))
			},
			[]string{well, "warn runtime: its cgroup driver is not known (the runtime does not report it, as containerd before 2.0); unless it is cgroupfs, no pod starts: name it in runtime.cgroup_driver"},
		},
		"that cannot say its cgroup driver": {
			func(_ *testing.T, cri *fakecri.Server) {
				cri.Fail("RuntimeConfig", status.Error(codes.Unknown, "broken"))
			},
			[]string{well, "warn runtime: its cgroup driver is not known (ask the runtime's cgroup driver: broken); unless it is cgroupfs, no pod starts: name it in runtime.cgroup_driver"},
		},
		"that is slow": {
			func(_ *testing.T, cri *fakecri.Server) {
				// Together, the delays are longer than a check once waited.
				cri.Delay("Version", 3*time.Second)
				cri.Delay("Status", 3*time.Second)
			},
			[]string{well},
		},
		"that cannot list": {
			func(_ *testing.T, cri *fakecri.Server) {
				cri.Fail("ListPodSandbox", status.Error(codes.Unknown, "broken"))
			},
			[]string{"fail runtime ENDPOINT: list sandboxes: broken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			n := newSite(t)
			n.Cfg.Runtime.Endpoint = cri.Endpoint()
			switch name {
			case "whose cgroup driver is another":
				n.Cfg.Runtime.CgroupDriver = config.CgroupFS
			case "that reports no cgroup driver, with a fallback":
				n.Cfg.Runtime.CgroupDriverFallback = config.CgroupSystemd
			}
			test.prepare(t, cri)
			findings := checkRuntime(t.Context(), n.Cfg, identity{installation: "us"}, DefaultCheckTimeout)
			hide(findings, cri.Endpoint())
			n.expect(t, findings, test.want...)
		})
	}
}

func TestARuntimeThatDoesNotSayHowItIsIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Version", "Status", "ListPodSandbox"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			cri.Delay(method, time.Hour)
			n := newSite(t)
			n.Cfg.Runtime.Endpoint = cri.Endpoint()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if got := checkRuntime(ctx, n.Cfg, identity{installation: "us"}, DefaultCheckTimeout); len(got) != 1 || got[0].Level != LevelFail {
				t.Errorf("findings %+v, want one failure", got)
			}
		})
	}
}

func TestARuntimeThatHangsIsGivenUpByItself(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	cri.Delay("Version", time.Hour)
	n := newSite(t)
	n.Cfg.Runtime.Endpoint = cri.Endpoint()
	const timeout = time.Second
	began := time.Now()
	got := checkRuntime(t.Context(), n.Cfg, identity{installation: "us"}, timeout)
	if took := time.Since(began); took < timeout || took > timeout+5*time.Second || got[0].Level != LevelFail {
		t.Errorf("findings %+v after %s, want a failure after about %s", got, took, timeout)
	}
}

func TestCheckRuntime_asksAgainForAStatusThatTimedOut(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	asked := make(chan struct{}, 1)
	cri.Before("Status", func(ctx context.Context, _ any) error {
		select {
		case asked <- struct{}{}: // the first call
			<-ctx.Done()
			return ctx.Err()
		default:
			return nil
		}
	})
	n := newSite(t)
	n.Cfg.Runtime.Endpoint, n.Cfg.Runtime.RequestTimeout = cri.Endpoint(), 500*time.Millisecond
	findings := checkRuntime(t.Context(), n.Cfg, identity{installation: "us"}, DefaultCheckTimeout)
	hide(findings, cri.Endpoint())
	n.expect(t, findings, "ok runtime ENDPOINT: fakecri 1.0.0")
}
