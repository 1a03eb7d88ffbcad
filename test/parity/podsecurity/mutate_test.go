package podsecurity

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// chooser returns a number below n.
type chooser func(n int) int

func one[T any](pick chooser, from ...T) T { return from[pick(len(from))] }

// maybe returns a pointer to one of the values, or nil.
func maybe[T any](pick chooser, from ...T) *T {
	n := pick(len(from) + 1)
	if n == len(from) {
		return nil
	}
	return &from[n]
}

// mutate makes a random change that some check looks at, or nearly does.
func mutate(p *v1.Pod, pick chooser) {
	switch pick(8) {
	case 0:
		mutatePod(p, pick)
	case 1:
		mutatePodContext(&p.Spec, pick)
	case 2:
		mutateList(&p.Spec, pick)
	default:
		c := anyContainer(&p.Spec, pick)
		if c == nil {
			return
		}
		if pick(4) == 0 {
			mutateContainer(c, pick)
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &v1.SecurityContext{}
		}
		mutateContext(c.SecurityContext, pick)
	}
}

// anyContainer returns a random container of any kind, nil if there is none.
func anyContainer(s *v1.PodSpec, pick chooser) *v1.Container {
	n, m, e := len(s.InitContainers), len(s.Containers), len(s.EphemeralContainers)
	if n+m+e == 0 {
		return nil
	}
	switch i := pick(n + m + e); {
	case i < n:
		return &s.InitContainers[i]
	case i < n+m:
		return &s.Containers[i-n]
	default:
		return (*v1.Container)(&s.EphemeralContainers[i-n-m].EphemeralContainerCommon)
	}
}

// mutateList adds a container or a volume, or removes some.
func mutateList(s *v1.PodSpec, pick chooser) {
	c := v1.Container{Name: one(pick, "a", "b", "initcontainer1", "")}
	if from := anyContainer(s, pick); from != nil && pick(2) == 0 {
		from.DeepCopyInto(&c)
	}
	switch pick(6) {
	case 0:
		s.Containers = append(s.Containers, c)
	case 1:
		s.InitContainers = append(s.InitContainers, c)
	case 2:
		s.EphemeralContainers = append(s.EphemeralContainers, v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon(c)})
	case 3:
		s.InitContainers = nil
	case 4:
		s.Volumes = nil
	default:
		s.Volumes = append(s.Volumes, v1.Volume{Name: one(pick, "v", "hostPath", `"`), VolumeSource: one(pick, volumes()...)})
	}
}

func volumes() []v1.VolumeSource {
	return []v1.VolumeSource{
		{},
		{HostPath: &v1.HostPathVolumeSource{}},
		{HostPath: &v1.HostPathVolumeSource{Path: "/emptyDir"}},
		{HostPath: &v1.HostPathVolumeSource{Path: "/"}, EmptyDir: &v1.EmptyDirVolumeSource{}},
		{NFS: &v1.NFSVolumeSource{Server: `"emptyDir":{}`}},
		{FlexVolume: &v1.FlexVolumeSource{Options: map[string]string{"emptyDir": "{}", "secret": "\\\"}"}}},
		{ISCSI: &v1.ISCSIVolumeSource{Portals: []string{"csi"}, SecretRef: &v1.LocalObjectReference{Name: "secret"}}},
		{EmptyDir: &v1.EmptyDirVolumeSource{}},
		{ConfigMap: &v1.ConfigMapVolumeSource{}},
		{Secret: &v1.SecretVolumeSource{}},
		{DownwardAPI: &v1.DownwardAPIVolumeSource{}},
		{Projected: &v1.ProjectedVolumeSource{}},
		{CSI: &v1.CSIVolumeSource{VolumeAttributes: map[string]string{"hostPath": "{"}}},
		{Ephemeral: &v1.EphemeralVolumeSource{}},
		{Image: &v1.ImageVolumeSource{}},
		{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{}},
	}
}

// mutateContainer changes a field of a container outside the security context.
func mutateContainer(c *v1.Container, pick chooser) {
	http := v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Port: intstr.FromInt32(1), Host: one(pick, "", "h", "127.0.0.1")}}
	tcp := v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Host: one(pick, "", "h")}}
	probe := maybe(pick, v1.Probe{}, v1.Probe{ProbeHandler: http}, v1.Probe{ProbeHandler: tcp})
	hook := maybe(pick, v1.LifecycleHandler{}, v1.LifecycleHandler{HTTPGet: http.HTTPGet}, v1.LifecycleHandler{TCPSocket: tcp.TCPSocket})
	switch pick(7) {
	case 0:
		c.LivenessProbe = probe
	case 1:
		c.ReadinessProbe = probe
	case 2:
		c.StartupProbe = probe
	case 3:
		c.Lifecycle = maybe(pick, v1.Lifecycle{}, v1.Lifecycle{PostStart: hook}, v1.Lifecycle{PreStop: hook})
	case 4:
		c.Ports = append(c.Ports, v1.ContainerPort{ContainerPort: 80, HostPort: one(pick, int32(0), 0, 80, -1)})
	case 5:
		c.Ports = nil
	default:
		c.SecurityContext = nil
	}
}
