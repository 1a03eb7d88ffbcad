package agent

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/site"
)

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

func TestOpen_comparesItsCgroupDriverWithTheRuntimes(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
	n := site.New(t)
	n.Cfg.Runtime.Endpoint, n.Cfg.Runtime.CgroupDriver = cri.Endpoint(), config.CgroupFS
	var log locked
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { a.runtime.WatchForeign(ctx) })
	const want = "the runtime's cgroup driver is systemd, the agent's is cgroupfs"
	for range 1000 {
		if strings.Contains(log.String(), want) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	watching.Wait()
	if got := log.String(); !strings.Contains(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}

// TestOpen_usesTheFallbackCgroupDriver: it is that of a runtime that does not tell its own.
func TestOpen_usesTheFallbackCgroupDriver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runtimes              *runtimeapi.CgroupDriver
		configured, otherwise string
		want                  node.Driver
	}{
		"systemd, if the runtime does not tell":  {nil, config.CgroupAuto, config.CgroupSystemd, node.DriverSystemd},
		"cgroupfs, if the runtime does not tell": {nil, config.CgroupAuto, config.CgroupFS, node.DriverCgroupfs},
		"not if the runtime tells":               {runtimeapi.CgroupDriver_CGROUPFS.Enum(), config.CgroupAuto, config.CgroupSystemd, node.DriverCgroupfs},
		"not if the driver is configured":        {nil, config.CgroupFS, config.CgroupSystemd, node.DriverCgroupfs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			cri.SetCgroupDriver(test.runtimes)
			n := site.New(t)
			n.Cfg.Runtime.Endpoint, n.Cfg.Runtime.CgroupDriver, n.Cfg.Runtime.CgroupDriverFallback = cri.Endpoint(), test.configured, test.otherwise
			a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			waitForRuntime(t, a)
			if got := a.cgroups.Driver(); got != test.want || a.health.Healthy() != nil {
				t.Errorf("driver %s, want %s; health %v", got, test.want, a.health.Healthy())
			}
		})
	}
}

// waitForRuntime asks the runtime until it is healthy, or for 10 s.
func waitForRuntime(t *testing.T, a *Node) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { a.health.Run(ctx) })
	for range 1000 {
		if a.health.Healthy() == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	polling.Wait()
}

// TestOpen_takesTheRuntimesCgroupDriver: an agent whose configuration names no driver has that of the
// runtime before the runtime counts as healthy, also after the runtime came back with another.
func TestOpen_takesTheRuntimesCgroupDriver(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	cri.SetCgroupDriver(runtimeapi.CgroupDriver_SYSTEMD.Enum())
	n := site.New(t)
	n.Cfg.Runtime.Endpoint = cri.Endpoint()
	var log locked
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if got := a.cgroups.Driver(); got != node.DriverCgroupfs {
		t.Errorf("before the runtime answers: %s", got)
	}
	waitForRuntime(t, a)
	if got := a.cgroups.Driver(); got != node.DriverSystemd || a.health.Healthy() != nil {
		t.Errorf("driver %s, health %v", got, a.health.Healthy())
	}
	if got, want := a.cgroups.Root(), "/"+strings.TrimPrefix(n.Cfg.Paths.CgroupRoot, "/")+".slice"; got != want {
		t.Errorf("root %s, want %s", got, want)
	}
	if got := a.configz().CgroupDriver; got != "systemd" {
		t.Errorf("configz names %s", got)
	}
	if text := log.String(); !strings.Contains(text, "driver=systemd") || strings.Contains(text, "no pod can start") {
		t.Errorf("log %s", text)
	}
}
