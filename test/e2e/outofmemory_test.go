//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestOutOfMemory has a container that wants more memory than its limit. The kernel kills it: its
// status, an event and a metric say so, and its neighbour notices nothing.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "oom")
	a.start(t)
	a.manifest(t, "calm.yaml", hostPod("calm", "sleep"))
	before := container(a.running(t, "calm")["calm"])
	greedy := strings.Replace(hostPod("greedy", "burn", "-memory", `"256"`), "spec:\n", "spec:\n  restartPolicy: Never\n", 1)
	a.manifest(t, "greedy.yaml", greedy+"    resources: {limits: {memory: 32Mi}}\n")
	a.pod(t, "greedy", func(p *v1.Pod) error {
		st := &p.Status
		if st.Phase != v1.PodFailed || len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].State.Terminated == nil {
			return fmt.Errorf("phase %s, containers %+v", st.Phase, st.ContainerStatuses)
		}
		if end := st.ContainerStatuses[0].State.Terminated; end.Reason != "OOMKilled" || end.ExitCode != 137 {
			return fmt.Errorf("ended as %+v", end)
		}
		return nil
	})
	a.event(t, "greedy", "OOMKilling", "Warning Container main: the ", " has reached its memory limit, and the kernel killed process testbox, pid: ")
	a.measures(t, "after the kill", nil, samples{fmt.Sprintf(`container_oom_events_total{container="main",namespace="default",pod="greedy-%s"}`, a.name): 1})
	if after := container(a.running(t, "calm")["calm"]); after != before {
		t.Errorf("the neighbour has container %s, had %s", after, before)
	}
	a.remove(t, "calm.yaml", "greedy.yaml")
	a.nothingLeft(t, n)
}
