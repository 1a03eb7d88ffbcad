package pod

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQOS(t *testing.T) {
	t.Parallel()
	list := func(cpu, memory string) v1.ResourceList {
		l := v1.ResourceList{}
		if cpu != "" {
			l[v1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			l[v1.ResourceMemory] = resource.MustParse(memory)
		}
		return l
	}
	c := func(requests, limits v1.ResourceList) v1.Container {
		return v1.Container{Resources: v1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	full, none := c(list("1", "1Mi"), list("1", "1Mi")), c(nil, nil)
	for _, tc := range []struct {
		rule string
		spec v1.PodSpec
		want v1.PodQOSClass
	}{
		{"nothing asked for", v1.PodSpec{Containers: []v1.Container{none}}, v1.PodQOSBestEffort},
		{"zero is nothing", v1.PodSpec{Containers: []v1.Container{c(list("0", "0"), list("0", "0"))}}, v1.PodQOSBestEffort},
		{"every limit equals its request", v1.PodSpec{Containers: []v1.Container{full, full}}, v1.PodQOSGuaranteed},
		{"equal, written differently", v1.PodSpec{Containers: []v1.Container{c(list("1000m", "1Mi"), list("1", "1024Ki"))}}, v1.PodQOSGuaranteed},
		{"one container without", v1.PodSpec{Containers: []v1.Container{full, none}}, v1.PodQOSBurstable},
		{"an init container without", v1.PodSpec{InitContainers: []v1.Container{none}, Containers: []v1.Container{full}}, v1.PodQOSBurstable},
		{"an init container that asks", v1.PodSpec{InitContainers: []v1.Container{full}, Containers: []v1.Container{none}}, v1.PodQOSBurstable},
		{"less requested than limited", v1.PodSpec{Containers: []v1.Container{c(list("1", "1Mi"), list("2", "1Mi"))}}, v1.PodQOSBurstable},
		{"nothing requested of what is limited", v1.PodSpec{Containers: []v1.Container{c(list("0", "1Mi"), list("1", "1Mi"))}}, v1.PodQOSBurstable},
		{"memory without limit", v1.PodSpec{Containers: []v1.Container{c(list("1", ""), list("1", ""))}}, v1.PodQOSBurstable},
		{"the whole pod decides, limits equal requests", v1.PodSpec{Resources: &full.Resources, Containers: []v1.Container{none}}, v1.PodQOSGuaranteed},
		{"the whole pod decides, whatever its containers have", v1.PodSpec{Resources: &v1.ResourceRequirements{Requests: list("1", "")}, Containers: []v1.Container{full}}, v1.PodQOSBurstable},
		{"the whole pod asks for nothing", v1.PodSpec{Resources: &v1.ResourceRequirements{}, Containers: []v1.Container{full}}, v1.PodQOSBestEffort},
		{"other resources do not count", v1.PodSpec{Containers: []v1.Container{c(v1.ResourceList{"x/y": resource.MustParse("1")}, nil)}}, v1.PodQOSBestEffort},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			if got := QOS(&v1.Pod{Spec: tc.spec}); got != tc.want {
				t.Errorf("QOS = %s, want %s", got, tc.want)
			}
		})
	}
	stated := &v1.Pod{Status: v1.PodStatus{QOSClass: v1.PodQOSGuaranteed}}
	if got := QOS(stated); got != v1.PodQOSGuaranteed {
		t.Errorf("a class the status names became %s", got)
	}
}
