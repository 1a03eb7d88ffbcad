//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// fixedPod returns a pod whose manifest names its UID and which serves a message.
func fixedPod(port, message, more string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: pinned, uid: 0b7e5c1e-4d1f-4a55-9b1c-2f0f7d3a9e02}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: registry.example/web:1
    args: [serve, -port, %q, -message, %q]
%s`, port, message, more)
}

// serving returns the environment of the process whose command line has these arguments. It
// returns an error unless there is exactly one such process.
func serving(port, message string) (env string, err error) {
	processes, err := harness.Processes()
	if err != nil {
		return "", err
	}
	found := 0
	for _, p := range processes {
		line := strings.Join(harness.Arguments(p), "\x00") + "\x00"
		if !strings.Contains(line, "serve\x00-port\x00"+port+"\x00") {
			continue
		}
		found++
		if !strings.Contains(line, "-message\x00"+message+"\x00") {
			return "", fmt.Errorf("process %q runs", line)
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
		env = string(text)
	}
	if found != 1 {
		return "", fmt.Errorf("%d processes serve on port %s", found, port)
	}
	return env, nil
}

func TestFixedUID_whatRunsIsWhatTheManifestSays(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "pinned")
	a.start(t)
	port := strconv.Itoa(freePort(t))
	runs := func(message, variable string) (p v1.Pod) {
		eventually(t, message+variable+" runs", func(ctx context.Context) error {
			env, err := serving(port, message)
			if err != nil {
				return err
			}
			if variable != "" && !strings.Contains(env, variable) {
				return fmt.Errorf("the process has the environment %q", env)
			}
			pods, err := a.pods(ctx)
			if p = pods["pinned-pinned"]; err == nil && !ready(p) {
				err = fmt.Errorf("%s %s", p.Status.Phase, p.Status.Reason)
			}
			return err
		})
		if got := p.Spec.Containers[0].Args[4]; got != message {
			t.Errorf("shown with message %q, and %q runs", got, message)
		}
		return p
	}
	a.manifest(t, "pinned.yaml", fixedPod(port, "one", ""))
	first := runs("one", "")

	a.manifest(t, "pinned.yaml", fixedPod(port, "two", "    resources: {limits: {memory: 64Mi}}\n"))
	second := runs("two", "")
	if second.UID != first.UID || container(second) == container(first) {
		t.Errorf("UID %s, container %s; before %s and %s", second.UID, container(second), first.UID, container(first))
	}

	a.kill()
	a.manifest(t, "pinned.yaml", fixedPod(port, "two", "    env: [{name: EDITED, value: \"while no agent ran\"}]\n"))
	a.start(t)
	third := runs("two", "EDITED=while no agent ran")

	a.kill()
	a.start(t)
	if again := runs("two", "EDITED=while no agent ran"); container(again) != container(third) {
		t.Error("a restart of the agent replaced what had not changed")
	}
	a.remove(t, "pinned.yaml")
	a.nothingLeft(t, n)
}
