package criconfig

import (
	"math"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func quantities(cpu, memory string) v1.ResourceList {
	list := v1.ResourceList{}
	if cpu != "" {
		list[v1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[v1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}

func TestLinuxResources(t *testing.T) {
	t.Parallel()
	type figures struct{ Shares, Quota, Memory int64 }
	for name, tc := range map[string]struct {
		requests, limits v1.ResourceList
		want             figures
	}{
		"nothing asked":                        {nil, nil, figures{Shares: 2}},
		"shares from the request":              {quantities("500m", "64Mi"), nil, figures{Shares: 512}},
		"shares from the limit where no other": {nil, quantities("250m", "128Mi"), figures{Shares: 256, Quota: 25_000, Memory: 128 << 20}},
		"request before limit":                 {quantities("100m", ""), quantities("2", ""), figures{Shares: 102, Quota: 200_000}},
		"least shares and quota":               {quantities("1m", ""), quantities("5m", ""), figures{Shares: 2, Quota: 1_000}},
		"most shares":                          {quantities("300", ""), nil, figures{Shares: 262144}},
		"more than can be counted":             {quantities("1e30", ""), quantities("18446744073709552", "16Ei"), figures{Shares: 262144, Quota: 100_000_000_000, Memory: math.MaxInt64}},
		"a request of zero is a request":       {quantities("0", ""), quantities("1", ""), figures{Shares: 2, Quota: 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := New(Config{}, nil).linuxResources(tc.requests, tc.limits)
			mustEqual(t, "figures", tc.want, figures{got.CpuShares, got.CpuQuota, got.MemoryLimitInBytes})
			mustEqual(t, "period", int64(100_000), got.CpuPeriod)
			if len(got.Unified) > 0 {
				t.Errorf("cgroup v2 settings on v1: %v", got.Unified)
			}
		})
	}
}

func TestContainerResources_ofAPodWithLimits(t *testing.T) {
	t.Parallel()
	list := func(cpu, memory, pages string) v1.ResourceList {
		l := quantities(cpu, memory)
		if pages != "" {
			l["hugepages-2Mi"] = resource.MustParse(pages)
		}
		return l
	}
	type figures struct {
		Shares, Quota, Memory int64
		Pages                 uint64
	}
	for name, test := range map[string]struct {
		pod, requests, limits v1.ResourceList
		want                  figures
	}{
		"the pod's where a container has none": {list("2", "1Gi", "4Mi"), nil, nil, figures{2048, 200_000, 1 << 30, 4 << 20}},
		"its own where it has some":            {list("2", "1Gi", "4Mi"), list("100m", "", ""), list("1", "", "2Mi"), figures{102, 100_000, 1 << 30, 2 << 20}},
		"without any":                          {nil, list("1", "1Gi", ""), nil, figures{1024, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: test.requests, Limits: test.limits}}}}}
			if test.pod != nil {
				p.Spec.Resources = &v1.ResourceRequirements{Limits: test.pod}
			}
			got := New(Config{PageSizes: []int64{2 << 20, 1 << 30}}, nil).containerResources(p, &p.Spec.Containers[0])
			want := []*runtimeapi.HugepageLimit{{PageSize: "2MB", Limit: test.want.Pages}, {PageSize: "1GB"}}
			mustEqual(t, "huge pages", len(want), len(got.HugepageLimits))
			for i, limit := range got.HugepageLimits {
				mustEqual(t, "huge pages", want[i].String(), limit.String())
			}
			mustEqual(t, "figures", test.want, figures{got.CpuShares, got.CpuQuota, got.MemoryLimitInBytes, want[0].Limit})
		})
	}
}

func TestOOMScore_ofAPodWithRequests(t *testing.T) {
	t.Parallel()
	p := &v1.Pod{Spec: v1.PodSpec{
		Resources:  &v1.ResourceRequirements{Requests: quantities("", "2Gi")},
		Containers: []v1.Container{{Name: "a", Resources: v1.ResourceRequirements{Requests: quantities("", "1Gi")}}, {Name: "b"}},
	}}
	for i, want := range []int64{625, 875} { // each has half of the GiB that no container requests
		mustEqual(t, "score", want, oomScoreAdj(p, &p.Spec.Containers[i], 4<<30))
	}
}

func TestOutOfMemoryKillsTheWholeContainerOnCgroupV2(t *testing.T) {
	t.Parallel()
	got := New(Config{CgroupV2: true}, nil).linuxResources(nil, nil)
	mustEqual(t, "unified", map[string]string{"memory.oom.group": "1"}, got.Unified)
	single := New(Config{CgroupV2: true, SingleProcessOOMKill: true}, nil).linuxResources(nil, nil)
	if len(single.Unified) > 0 {
		t.Errorf("cgroup v2 settings where single processes are killed: %v", single.Unified)
	}
}

func TestSandboxResourcesAreThePods(t *testing.T) {
	t.Parallel()
	p := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{
		{Resources: v1.ResourceRequirements{Requests: quantities("250m", "10Mi"), Limits: quantities("1", "20Mi")}},
		{Resources: v1.ResourceRequirements{Requests: quantities("250m", "10Mi"), Limits: quantities("1", "20Mi")}},
	}}}
	got := New(Config{}, nil).sandboxResources(p)
	mustEqual(t, "shares, quota, memory", []int64{512, 200_000, 40 << 20}, []int64{got.CpuShares, got.CpuQuota, got.MemoryLimitInBytes})
	mustEqual(t, "OOM score", int64(0), got.OomScoreAdj)
}

func TestSandboxOverhead_isOfTheSandboxAlone(t *testing.T) {
	t.Parallel()
	p := &v1.Pod{Spec: v1.PodSpec{
		Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: quantities("250m", "10Mi"), Limits: quantities("1", "20Mi")}}},
		Overhead:   quantities("500m", "30Mi"),
	}}
	b := New(Config{}, nil)
	for what, test := range map[string]struct {
		got  *runtimeapi.LinuxContainerResources
		want []int64
	}{
		"overhead":   {b.sandboxOverhead(p), []int64{512, 50_000, 30 << 20}},
		"containers": {b.sandboxResources(p), []int64{256, 100_000, 20 << 20}},
	} {
		mustEqual(t, what+": shares, quota, memory", test.want, []int64{test.got.CpuShares, test.got.CpuQuota, test.got.MemoryLimitInBytes})
	}
	p.Spec.Overhead = nil
	if got := b.sandboxOverhead(p); got != nil {
		t.Errorf("overhead of a pod without one: %v", got)
	}
}

func TestOOMScore(t *testing.T) {
	t.Parallel()
	const gi = int64(1) << 30
	burstable := func(memory string) v1.ResourceRequirements {
		return v1.ResourceRequirements{Requests: quantities("", memory)}
	}
	for name, tc := range map[string]struct {
		class     string
		priority  *int32
		resources v1.ResourceRequirements
		capacity  int64
		want      int64
	}{
		"best effort goes first":                      {capacity: 4 * gi, want: 1000},
		"guaranteed goes last":                        {resources: v1.ResourceRequirements{Requests: quantities("1", "1Gi"), Limits: quantities("1", "1Gi")}, capacity: 4 * gi, want: -997},
		"burstable by the share of memory":            {resources: burstable("1Gi"), capacity: 4 * gi, want: 750},
		"a small share stays below best effort":       {resources: burstable("1Ki"), capacity: 4 * gi, want: 999},
		"all of the memory stays above guaranteed":    {resources: burstable("4Gi"), capacity: 4 * gi, want: 3},
		"more than all of it too":                     {resources: burstable("40Gi"), capacity: 4 * gi, want: 3},
		"more than can be counted too":                {resources: burstable("16Ei"), capacity: 4 * gi, want: 3},
		"capacity unknown":                            {resources: burstable("1Gi"), want: 999},
		"node critical, by class and system priority": {class: "system-node-critical", priority: new(int32(2_000_001_000)), capacity: 4 * gi, want: -997},
		"the class alone says nothing":                {class: "system-node-critical", capacity: 4 * gi, want: 1000},
		"nor does the priority":                       {priority: new(int32(2_000_001_000)), capacity: 4 * gi, want: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{Spec: v1.PodSpec{
				PriorityClassName: tc.class, Priority: tc.priority,
				Containers: []v1.Container{{Name: "app", Resources: tc.resources}},
			}}
			mustEqual(t, "score", tc.want, oomScoreAdj(p, &p.Spec.Containers[0], tc.capacity))
		})
	}
}

func TestOOMScore_ofASidecar(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sidecar, restart string
		want             int64
	}{
		"that requests less than any container": {"128Mi", "Always", 875},
		"that requests more":                    {"1Gi", "Always", 750},
		"that requests nothing":                 {"", "Always", 875},
		"which is none: it runs before them":    {"128Mi", "", 969},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := func(memory string) v1.ResourceRequirements {
				return v1.ResourceRequirements{Requests: quantities("", memory)}
			}
			first := v1.Container{Name: "proxy", Resources: requests(test.sidecar)}
			if test.restart != "" {
				first.RestartPolicy = new(v1.ContainerRestartPolicy(test.restart))
			}
			p := &v1.Pod{Spec: v1.PodSpec{
				InitContainers: []v1.Container{first},
				Containers:     []v1.Container{{Name: "a", Resources: requests("2Gi")}, {Name: "b", Resources: requests("512Mi")}},
			}}
			mustEqual(t, "score", test.want, oomScoreAdj(p, &p.Spec.InitContainers[0], 4<<30))
		})
	}
}
