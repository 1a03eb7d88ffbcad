package fakecri

import (
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestStatistics(t *testing.T) {
	t.Parallel()
	c := start(t)
	sandbox, id := c.running(t, Program{})
	dead, err := c.sandbox(t, "dead", 0)
	if err != nil {
		t.Fatal(err)
	}
	c.KillSandbox(dead)
	value := func(n uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: n} }
	c.SetStats(id, &runtimeapi.ContainerStats{Cpu: &runtimeapi.CpuUsage{UsageCoreNanoSeconds: value(7)}})
	c.SetSandboxStats(sandbox, &runtimeapi.LinuxPodSandboxStats{Memory: &runtimeapi.MemoryUsage{WorkingSetBytes: value(8)}})

	pods, err := c.runtime.ListPodSandboxStats(t.Context(), &runtimeapi.ListPodSandboxStatsRequest{})
	if err != nil || len(pods.GetStats()) != 1 {
		t.Fatalf("%v, %v", pods, err)
	}
	of := pods.GetStats()[0]
	if of.GetAttributes().GetId() != sandbox || of.GetLinux().GetMemory().GetWorkingSetBytes().GetValue() != 8 || len(of.GetLinux().GetContainers()) != 1 {
		t.Errorf("pod: %v", of)
	}
	containers, err := c.runtime.ListContainerStats(t.Context(), &runtimeapi.ListContainerStatsRequest{})
	if err != nil || len(containers.GetStats()) != 1 {
		t.Fatalf("%v, %v", containers, err)
	}
	for _, got := range []*runtimeapi.ContainerStats{of.GetLinux().GetContainers()[0], containers.GetStats()[0]} {
		if got.GetAttributes().GetId() != id || got.GetAttributes().GetMetadata().GetName() != "app" || got.GetCpu().GetUsageCoreNanoSeconds().GetValue() != 7 {
			t.Errorf("container: %v", got)
		}
	}
	c.Exit(id, 0)
	if after, err := c.runtime.ListContainerStats(t.Context(), &runtimeapi.ListContainerStatsRequest{}); err != nil || len(after.GetStats()) != 0 {
		t.Errorf("after its end: %v, %v", after, err)
	}
}
