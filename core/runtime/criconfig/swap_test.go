package criconfig

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestSwap_ofAContainer(t *testing.T) {
	t.Parallel()
	const gi = int64(1) << 30
	v2 := Config{CgroupV2: true, MemoryCapacity: 4 * gi, Swap: Swap{Controller: true, Limited: true, Capacity: 2 * gi}}
	changed := func(change func(*Config)) Config {
		c := v2
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		config          Config
		request, limit  string
		priority        *int32
		want            string
		wantMemorySwap1 int64
	}{
		"a share of the swap space":             {config: v2, request: "1Gi", limit: "2Gi", want: "536870912"},
		"without a limit of memory, too":        {config: v2, request: "1Gi", want: "536870912"},
		"none if it requests its limit":         {config: v2, request: "1Gi", limit: "1Gi", want: "0"},
		"none if it requests no memory":         {config: v2, want: "0"},
		"none of a pod of the system":           {config: v2, request: "1Gi", limit: "2Gi", priority: new(int32(2_000_000_000)), want: "0"},
		"no more than the swap space":           {config: v2, request: "40Gi", want: "2147483648"},
		"none unless it is configured":          {config: changed(func(c *Config) { c.Swap.Limited = false }), request: "1Gi", want: "0"},
		"none if the memory is unknown":         {config: changed(func(c *Config) { c.MemoryCapacity = 0 }), request: "1Gi", want: "0"},
		"no limit without the controller":       {config: changed(func(c *Config) { c.Swap.Controller = false }), request: "1Gi"},
		"memory and swap together, cgroup v1":   {config: changed(func(c *Config) { c.CgroupV2 = false }), request: "1Gi", limit: "2Gi", wantMemorySwap1: 2 * gi},
		"cgroup v1 without a limit of memory":   {config: changed(func(c *Config) { c.CgroupV2 = false }), request: "1Gi"},
		"cgroup v1 without the swap controller": {config: changed(func(c *Config) { c.CgroupV2, c.Swap.Controller = false, false }), request: "1Gi", limit: "2Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := v1.Container{Name: "a", Resources: v1.ResourceRequirements{Requests: quantities("", test.request), Limits: quantities("", test.limit)}}
			other := v1.Container{Name: "b", Resources: v1.ResourceRequirements{Requests: quantities("100m", "")}} // so that the pod is burstable
			p := &v1.Pod{Spec: v1.PodSpec{Priority: test.priority, Containers: []v1.Container{c, other}}}
			got := New(test.config, nil).containerResources(p, &p.Spec.Containers[0])
			mustEqual(t, "memory.swap.max", test.want, got.Unified["memory.swap.max"])
			mustEqual(t, "memory and swap", test.wantMemorySwap1, got.MemorySwapLimitInBytes)
		})
	}
}
