package admission

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// world is a pod that wants to start on a node beside others.
type world struct {
	node   *v1.Node
	pod    *v1.Pod
	others []*v1.Pod
}

// dice makes worlds.
type dice struct{ *rand.Rand }

func worldOf(seed uint64) *world {
	d := dice{rand.New(rand.NewPCG(seed, 1))}
	w := &world{node: d.node()}
	for i := range d.IntN(8) {
		w.others = append(w.others, d.pod(types.UID(fmt.Sprint("other-", i)), true))
	}
	w.pod = d.pod("new", false)
	return w
}

// once is true one time in n.
func (d dice) once(n int) bool { return d.IntN(n) == 0 }

func oneOf[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

const (
	camera = "example.com/camera"
	disk   = "example.com/disk"
	huge   = "hugepages-2Mi"
)

func (d dice) node() *v1.Node {
	n := &v1.Node{}
	n.Name = "node-a"
	if !d.once(20) {
		n.Labels = map[string]string{"site": oneOf(d, "north", "south"), "rank": oneOf(d, "1", "5")}
		if os := oneOf(d, "linux", "linux", "linux", "windows", ""); os != "" {
			n.Labels[v1.LabelOSStable] = os
		}
	}
	for _, key := range []string{"off", "hot"} {
		if d.once(6) {
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{
				Key: key, Value: oneOf(d, "", "yes"), Effect: oneOf(d, v1.TaintEffectNoExecute, v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule),
			})
		}
	}
	a := v1.ResourceList{
		v1.ResourceCPU:              *resource.NewMilliQuantity(int64(d.IntN(8)+1)*500, resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity(int64(d.IntN(8)+1)<<28, resource.BinarySI),
		v1.ResourceEphemeralStorage: *resource.NewQuantity(int64(d.IntN(8)+1)<<30, resource.BinarySI),
		v1.ResourcePods:             *resource.NewQuantity(int64(d.IntN(8)+1), resource.DecimalSI),
	}
	for _, name := range []v1.ResourceName{camera, disk, huge} {
		if d.once(2) {
			a[name] = *resource.NewQuantity(int64(d.IntN(4)), resource.DecimalSI)
		}
	}
	n.Status.Allocatable = a
	if d.once(2) {
		n.Status.Features = &v1.NodeFeatures{SupplementalGroupsPolicy: oneOf(d, nil, new(true), new(false))}
	}
	return n
}

func (d dice) pod(uid types.UID, runs bool) *v1.Pod {
	p := &v1.Pod{}
	p.UID, p.Namespace, p.Name = uid, "default", "pod-"+string(uid)
	switch d.IntN(10) {
	case 0, 1:
		p.Annotations = map[string]string{pod.AnnotationSource: oneOf(d, "file", "http")}
	case 2:
		p.Annotations = map[string]string{pod.AnnotationSource: "api", pod.AnnotationMirror: "x"}
	case 3:
	default:
		p.Annotations = map[string]string{pod.AnnotationSource: "api"}
	}
	p.Spec.Priority = oneOf(d, nil, nil, new(int32(0)), new(int32(1000)), new(int32(1_999_999_999)), new(int32(2_000_000_000)), new(int32(2_000_001_000)))
	for i := range d.IntN(3) + 1 {
		p.Spec.Containers = append(p.Spec.Containers, d.container(fmt.Sprint("c", i)))
	}
	if d.once(3) {
		for i := range d.IntN(2) + 1 {
			c := d.container(fmt.Sprint("i", i))
			c.RestartPolicy = oneOf(d, nil, new(v1.ContainerRestartPolicyAlways))
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	if d.once(8) {
		p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m")}
	}
	if runs {
		d.resized(p)
	} else {
		d.place(p)
	}
	return p
}

func (d dice) container(name string) v1.Container {
	c := v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}, Limits: v1.ResourceList{}}}
	class := d.IntN(4)
	for _, own := range []struct {
		name  v1.ResourceName
		sizes []string
	}{
		{v1.ResourceCPU, []string{"0", "100m", "250m", "500m", "1"}}, {v1.ResourceMemory, []string{"0", "64Mi", "128Mi", "256Mi", "512Mi"}},
	} {
		size := resource.MustParse(oneOf(d, own.sizes...))
		switch {
		case class == 0: // of best effort
		case class == 1: // guaranteed
			c.Resources.Requests[own.name], c.Resources.Limits[own.name] = size, size
		case d.once(2):
			c.Resources.Requests[own.name] = size
		}
	}
	for _, extra := range []struct {
		name v1.ResourceName
		size string
		rare int
	}{{v1.ResourceEphemeralStorage, "1Gi", 4}, {camera, "1", 6}, {disk, "1", 8}, {huge, "1", 16}, {"example.com/unknown", "1", 10}} {
		if d.once(extra.rare) {
			c.Resources.Requests[extra.name] = resource.MustParse(extra.size)
		}
	}
	for d.once(5) {
		c.Ports = append(c.Ports, v1.ContainerPort{
			ContainerPort: 80, HostPort: oneOf[int32](d, 0, 80, 80, 443), HostIP: oneOf(d, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"),
			Protocol: oneOf(d, "", v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP),
		})
	}
	return c
}

// resized sets the status of a running pod to that of a pod that is, or was, being resized.
func (d dice) resized(p *v1.Pod) {
	if !d.once(4) {
		return
	}
	for i := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, v1.ContainerStatus{
			Name:               p.Spec.Containers[i].Name,
			AllocatedResources: v1.ResourceList{v1.ResourceCPU: resource.MustParse(oneOf(d, "100m", "750m"))},
			Resources:          &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(oneOf(d, "100m", "750m"))}},
		})
	}
	if d.once(3) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Reason: oneOf(d, v1.PodReasonInfeasible, v1.PodReasonDeferred)}}
	}
}

// place sets the fields that decide where a pod may run. The node is mostly this one.
func (d dice) place(p *v1.Pod) {
	p.Spec.NodeName = oneOf(d, "", "node-a", "node-a", "node-a", "node-a", "node-a", "node-b")
	if d.once(8) {
		p.Spec.NodeSelector = map[string]string{oneOf(d, "site", v1.LabelOSStable): oneOf(d, "north", "linux", "windows")}
	}
	if d.once(6) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{}}}
		required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for range d.IntN(3) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, d.term())
		}
	}
	for d.once(3) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{
			Key: oneOf(d, "", "off", "hot"), Operator: oneOf(d, "", v1.TolerationOpExists, v1.TolerationOpExists, v1.TolerationOpEqual, v1.TolerationOpGt),
			Value: oneOf(d, "", "yes"), Effect: oneOf(d, "", v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule),
		})
	}
	if d.once(20) {
		p.Labels = map[string]string{v1.LabelOSStable: oneOf(d, "linux", "windows")}
	}
	if d.once(20) {
		p.Spec.OS = &v1.PodOS{Name: oneOf(d, v1.Linux, v1.Windows)}
	}
	if d.once(20) {
		p.Spec.SecurityContext = &v1.PodSecurityContext{SupplementalGroupsPolicy: oneOf(d, nil, new(v1.SupplementalGroupsPolicyStrict), new(v1.SupplementalGroupsPolicyMerge))}
	}
	if d.once(10) {
		p.Status.QOSClass = oneOf(d, v1.PodQOSBestEffort, v1.PodQOSBurstable, v1.PodQOSGuaranteed)
	}
}

func (d dice) term() v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	for range d.IntN(3) {
		t.MatchExpressions = append(t.MatchExpressions, v1.NodeSelectorRequirement{
			Key:      oneOf(d, "site", "rank", v1.LabelOSStable, "none"),
			Operator: oneOf(d, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt, "Like"),
			Values:   oneOf(d, nil, []string{"north"}, []string{"3"}, []string{"north", "south"}, []string{"linux"}),
		})
	}
	if d.once(4) {
		t.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: oneOf(d, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: oneOf(d, []string{"node-a"}, []string{"node-b"}, nil)}}
	}
	return t
}
