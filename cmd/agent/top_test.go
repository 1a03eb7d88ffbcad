package main

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// measuredAt is when the statistics of the tests were read.
var measuredAt = metav1.NewTime(noon.Add(-3 * time.Second))

func cpuOf(nanocores uint64) *statsapi.CPUStats {
	return &statsapi.CPUStats{Time: measuredAt, UsageNanoCores: &nanocores}
}

func memoryOf(bytes uint64) *statsapi.MemoryStats {
	return &statsapi.MemoryStats{Time: measuredAt, WorkingSetBytes: &bytes}
}

func measuredPod(namespace, name string, containers ...statsapi.ContainerStats) statsapi.PodStats {
	// What the pod uses beside its containers is not shown.
	return statsapi.PodStats{PodRef: statsapi.PodReference{Namespace: namespace, Name: name}, Containers: containers, CPU: cpuOf(9e9), Memory: memoryOf(9 << 30)}
}

func TestTop(t *testing.T) {
	t.Parallel()
	summary := &statsapi.Summary{
		Node: statsapi.NodeStats{NodeName: "edge", CPU: cpuOf(1_234_500_000), Memory: memoryOf(3 << 30)},
		Pods: []statsapi.PodStats{
			measuredPod("shop", "web-edge",
				statsapi.ContainerStats{Name: "main", CPU: cpuOf(250_000_001), Memory: memoryOf(50 << 20)},
				statsapi.ContainerStats{Name: "side", CPU: cpuOf(0), Memory: memoryOf(1<<20 - 1)}),
			measuredPod("default", "db-edge", statsapi.ContainerStats{Name: "db\x1b[2J", CPU: cpuOf(3_000_000), Memory: memoryOf(700 << 20)}),
			measuredPod("default", "fresh-edge", statsapi.ContainerStats{Name: "main", CPU: &statsapi.CPUStats{Time: measuredAt}, Memory: memoryOf(2 << 20)}),
			measuredPod("default", "waits-edge"),
		},
	}
	node := &v1.Node{Status: v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi")}}}
	for name, test := range map[string]struct {
		summary *statsapi.Summary
		args    []string
	}{
		"top-pods":            {summary, []string{"pods"}},
		"top-pods-all":        {summary, []string{"pods", "-A", "-n", "shop"}},
		"top-pods-namespace":  {summary, []string{"pods", "-n", "shop"}},
		"top-pods-cpu":        {summary, []string{"pods", "--sort-by", "cpu"}},
		"top-pods-memory":     {summary, []string{"pods", "--sort-by", "memory"}},
		"top-pods-containers": {summary, []string{"pods", "--containers", "--sort-by", "cpu"}},
		"top-pods-no-headers": {summary, []string{"pods", "--no-headers", "-n", "shop", "--containers"}},
		"top-pods-json":       {summary, []string{"pods", "-o", "json"}},
		"top-pods-named":      {summary, []string{"pod", "db-edge"}},
		"top-pods-named-yaml": {summary, []string{"pod", "web-edge", "-o", "yaml"}},
		"top-pods-not-found":  {summary, []string{"pods", "web-edge", "nix", "waits-edge"}},
		"top-pods-none":       {&statsapi.Summary{}, []string{"pods"}},
		"top-pods-none-json":  {&statsapi.Summary{}, []string{"pods", "-o", "json"}},
		"top-pods-unmeasured": {nil, []string{"pods"}},
		"top-node":            {summary, []string{"node"}},
		"top-node-json":       {summary, []string{"node", "-o", "json"}},
		"top-node-no-headers": {summary, []string{"nodes", "--no-headers"}},
		"top-node-nothing":    {&statsapi.Summary{Node: statsapi.NodeStats{NodeName: "edge"}}, []string{"node"}},
		"top-node-unmeasured": {nil, []string{"node"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{stats: test.summary, node: node})
			golden(t, name, wardlet(t.Context(), append([]string{"top", "--socket", socket}, test.args...)...), socket, "SOCKET")
		})
	}
}
