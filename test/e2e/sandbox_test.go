//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// killSandboxes kills the pause process of each sandbox.
func (n node) killSandboxes(t *testing.T) {
	t.Helper()
	sandboxes, err := n.CRI.ListPodSandbox(t.Context(), &criapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sandboxes.GetItems() {
		status, err := n.CRI.PodSandboxStatus(t.Context(), &criapi.PodSandboxStatusRequest{PodSandboxId: s.GetId(), Verbose: true})
		if err != nil {
			t.Fatal(err)
		}
		var info struct {
			PID int `json:"pid"`
		}
		if err := json.Unmarshal([]byte(status.GetInfo()["info"]), &info); err != nil || info.PID <= 1 {
			t.Fatalf("sandbox %s has no process: %v", s.GetId(), err)
		}
		if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSandboxChanged_isToldWhenASandboxDies(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "sandbox")
	a.start(t)
	a.manifest(t, "always.yaml", hostPod("always", "serve", "-port", fmt.Sprintf("%q", strconv.Itoa(freePort(t)))))
	never := hostPod("never", "serve", "-port", fmt.Sprintf("%q", strconv.Itoa(freePort(t))))
	a.manifest(t, "never.yaml", strings.Replace(never, "spec:\n", "spec:\n  restartPolicy: Never\n", 1))
	a.running(t, "always", "never")
	n.killSandboxes(t)
	for name, want := range map[string]string{
		"always-sandbox": "Pod sandbox changed, it will be killed and re-created.",
		"never-sandbox":  "Pod sandbox changed, it will be killed, and by its restart policy nothing of the pod starts again.",
	} {
		eventually(t, name+" says what became of its sandbox", func(context.Context) error {
			events, err := a.wardlet("get", "events", "--for", "pod/"+name)
			if err != nil {
				return err
			}
			for _, want := range []string{want, "Stopping container main: the pod's sandbox is not ready any more"} {
				if !strings.Contains(events, want) {
					return fmt.Errorf("no %q in\n%s", want, events)
				}
			}
			return nil
		})
	}
	a.running(t, "always")
	a.remove(t, "always.yaml", "never.yaml")
	a.nothingLeft(t, n)
}
