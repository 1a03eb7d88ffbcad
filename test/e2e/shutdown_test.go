//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/fakelogind"
)

// TestAShutdownOfTheMachineEndsPodsInOrder checks that pods end before the machine goes down, the
// critical ones last, and that they run again after the boot.
func TestAShutdownOfTheMachineEndsPodsInOrder(t *testing.T) {
	t.Parallel()
	logind := fakelogind.Start(t)
	memory := fakecri.Start(t)
	memory.Load(webOne, 1, fakecri.Program{})
	a := newAgentAt(t, memory.Endpoint(), "down")
	a.Env = append(a.Env, "DBUS_SYSTEM_BUS_ADDRESS="+logind.Address())
	text, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), string(text)+"[node]\nshutdown_grace_period = \"5s\"\nshutdown_grace_period_critical_pods = \"2s\"\ncritical = [\"default/dns\"]\n")
	a.start(t)
	a.manifest(t, "dns.yaml", hostPod("dns", "sleep"))
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "dns", "web")
	var lock fakelogind.Inhibition
	select {
	case lock = <-logind.Inhibits:
	case <-time.After(patience):
		t.Fatal("the agent takes no delay lock")
	}

	memory.ForgetCalls()
	logind.Prepare(true)
	lock.Released(t)
	var stopped []string
	for _, call := range memory.Calls("StopContainer") {
		r, _ := call.Request.(*runtimeapi.StopContainerRequest)
		stopped = append(stopped, fmt.Sprintf("%s %d s", map[string]string{
			memory.Newest("web-down", "main"): "web", memory.Newest("dns-down", "main"): "dns",
		}[r.GetContainerId()], r.GetTimeout()))
	}
	if want := []string{"web 2 s", "dns 2 s"}; !slices.Equal(stopped, want) {
		t.Errorf("stopped containers %q, want %q", stopped, want)
	}
	pods, err := a.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dns-down", "web-down"} {
		st := pods[name].Status
		if st.Phase != v1.PodFailed || st.Reason != "Terminated" || st.Message != "Pod was terminated in response to imminent node shutdown." {
			t.Errorf("%s: phase %s, reason %s, message %q", name, st.Phase, st.Reason, st.Message)
		}
	}
	a.manifest(t, "late.yaml", hostPod("late", "sleep"))
	eventually(t, "a new pod is rejected", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if st := pods["late-down"].Status; err == nil && (st.Phase != v1.PodPending || st.Reason != "NodeShutdown" || !strings.HasSuffix(st.Message, "Pod was rejected as the node is shutting down.")) {
			err = fmt.Errorf("phase %s, reason %s, message %q", st.Phase, st.Reason, st.Message)
		}
		return err
	})

	a.stop(t)
	logind.Set(func() { logind.Down = false })
	a.start(t)
	a.running(t, "dns", "web", "late")
	a.remove(t, "dns.yaml", "web.yaml", "late.yaml")
}
