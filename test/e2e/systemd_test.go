//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/harness"
)

// manager is a service manager from the agent's point of view: a socket for messages.
type manager struct {
	conn *net.UnixConn
	seen []string
}

// underSystemd makes the agent start as a service of Type=notify with a watchdog does.
func underSystemd(t *testing.T, a *agent, watchdog time.Duration) *manager {
	t.Helper()
	socket := a.Path("notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	a.Env = append(a.Env, "NOTIFY_SOCKET="+socket, fmt.Sprintf("WATCHDOG_USEC=%d", watchdog.Microseconds()))
	return &manager{conn: conn}
}

// hears waits for a message that has all these words, and returns it. Earlier messages
// are skipped.
func (m *manager) hears(t *testing.T, words ...string) string {
	t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for {
		var text [4096]byte
		n, err := m.conn.Read(text[:])
		if err != nil {
			t.Fatalf("no message has %q: %v; these came:\n%s", words, err, strings.Join(m.seen, "\n"))
		}
		message := string(text[:n])
		m.seen = append(m.seen, message)
		if contains(message, words...) == nil {
			return message
		}
	}
}

func TestSystemdIsToldHowTheAgentIs(t *testing.T) {
	t.Parallel()
	memory := fakecri.Start(t)
	memory.Stop()
	a := newAgentAt(t, memory.Endpoint(), "told")
	m := underSystemd(t, a, 2*time.Second)
	a.start(t)
	m.hears(t, "STATUS=Starting: container runtime at "+memory.Endpoint()+" does not answer")
	m.hears(t, "EXTEND_TIMEOUT_USEC=")
	for _, message := range m.seen {
		if strings.Contains(message, "READY=1") {
			t.Error("it is ready without a runtime")
		}
	}
	if err := memory.Serve(); err != nil {
		t.Fatal(err)
	}
	m.hears(t, "READY=1", "STATUS=Node told: 0 pods")
	m.hears(t, "WATCHDOG=1")

	memory.Stop()
	m.hears(t, "STATUS=Pods run on, and nothing is changed: container runtime at ")
	for range 5 {
		m.hears(t, "WATCHDOG=1")
	}
	if err := memory.Serve(); err != nil {
		t.Fatal(err)
	}
	m.hears(t, "STATUS=Node told: 0 pods")

	if err := a.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.hears(t, "RELOADING=1", "MONOTONIC_USEC=")
	m.hears(t, "READY=1")
	if out, err := a.wardlet("reload"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	m.hears(t, "RELOADING=1")
	m.hears(t, "READY=1")

	a.stop(t)
	m.hears(t, "STOPPING=1", "STATUS=Stopping")
}

// The calls to the runtime that an agent makes while it has a pod to start.
var runtimeCalls = []string{"RunPodSandbox", "Status", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus"}

func TestSIGTERMGivesCallsInFlightTenSeconds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		takes       time.Duration
		least, most time.Duration
		calls       []string
		finished    bool
	}{
		"one that takes a while finishes": {4 * time.Second, time.Second, 8 * time.Second, runtimeCalls[:1], true},
		"one that hangs is given up":      {30 * time.Second, 9 * time.Second, 14 * time.Second, runtimeCalls[:1], false},
		"so where everything hangs":       {30 * time.Second, 9 * time.Second, 14 * time.Second, runtimeCalls, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := fakecri.Start(t)
			memory.Load(webOne, 1, fakecri.Program{})
			a := newAgentAt(t, memory.Endpoint(), "ends")
			a.start(t)
			a.settled(t)
			memory.Delay("RunPodSandbox", tt.takes)
			a.manifest(t, "web.yaml", hostPod("web", "sleep"))
			eventually(t, "the sandbox is asked for", func(context.Context) error {
				if memory.Count("RunPodSandbox") == 0 {
					return errors.New("it is not")
				}
				return nil
			})
			for _, call := range tt.calls[1:] {
				memory.Delay(call, tt.takes)
			}
			// A further pod, which the agent must not start any more.
			a.manifest(t, "late.yaml", hostPod("late", "sleep"))
			begun := time.Now()
			a.stop(t)
			if took := time.Since(begun); took < tt.least || took > tt.most {
				t.Errorf("the end took %s, want %s to %s", took, tt.least, tt.most)
			}
			if n := memory.Count("CreateContainer"); n != 0 {
				t.Errorf("%d containers were made after SIGTERM", n)
			}
			for _, call := range tt.calls {
				memory.Clear(call)
			}
			a.start(t)
			a.running(t, "web", "late")
			if made := memory.Count("RunPodSandbox"); tt.finished && made != 2 {
				t.Errorf("%d sandboxes were made for two pods: what was in flight was not finished, or not used", made)
			}
			a.remove(t, "web.yaml", "late.yaml")
			eventually(t, "nothing is left", func(context.Context) error {
				cgroups, err := harness.CgroupsNamed(a.Cgroup())
				if err != nil {
					return err
				}
				dirs, err := os.ReadDir(a.Path("root", "pods"))
				if err != nil {
					return err
				}
				if len(cgroups)+len(dirs) > 0 {
					return fmt.Errorf("%q, %d directories of pods", cgroups, len(dirs))
				}
				return nil
			})
		})
	}
}
