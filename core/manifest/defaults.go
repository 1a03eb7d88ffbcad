package manifest

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// setDefaults fills in what an API server (v1.36) would, in the fields that
// are honoured.
func setDefaults(p *v1.Pod) {
	s := &p.Spec
	setDefault(&s.RestartPolicy, v1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, v1.DNSClusterFirst)
	setDefault(&s.SchedulerName, v1.DefaultSchedulerName)
	setDefault(&s.TerminationGracePeriodSeconds, new(int64(v1.DefaultTerminationGracePeriodSeconds)))
	setDefault(&s.EnableServiceLinks, new(v1.DefaultEnableServiceLinks))
	setDefault(&s.SecurityContext, new(v1.PodSecurityContext{}))
	for i := range s.Volumes {
		source := &s.Volumes[i].VolumeSource
		switch {
		case source.HostPath != nil:
			setDefault(&source.HostPath.Type, new(v1.HostPathUnset))
		case source.Secret != nil:
			setDefault(&source.Secret.DefaultMode, new(v1.SecretVolumeSourceDefaultMode))
		case source.ConfigMap != nil:
			setDefault(&source.ConfigMap.DefaultMode, new(v1.ConfigMapVolumeSourceDefaultMode))
		case source.DownwardAPI != nil:
			setDefault(&source.DownwardAPI.DefaultMode, new(v1.DownwardAPIVolumeSourceDefaultMode))
			setFieldDefaults(source.DownwardAPI.Items)
		case source.Projected != nil:
			setDefault(&source.Projected.DefaultMode, new(v1.ProjectedVolumeSourceDefaultMode))
			for j := range source.Projected.Sources {
				if d := source.Projected.Sources[j].DownwardAPI; d != nil {
					setFieldDefaults(d.Items)
				}
			}
		case *source == (v1.VolumeSource{}):
			setDefault(&source.EmptyDir, new(v1.EmptyDirVolumeSource{}))
		}
	}
	roundUp(s.Overhead)
	for c := range pod.Containers(p) {
		setContainerDefaults(c, s.HostNetwork)
	}
}

func setFieldDefaults(items []v1.DownwardAPIVolumeFile) {
	for i := range items {
		if items[i].FieldRef != nil {
			setDefault(&items[i].FieldRef.APIVersion, "v1")
		}
	}
}

func setContainerDefaults(c *v1.Container, hostNetwork bool) {
	setDefault(&c.TerminationMessagePath, v1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, v1.TerminationMessageReadFile)
	setDefault(&c.ImagePullPolicy, pod.PullPolicy(c.Image))
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
		if from != nil && from.FileKeyRef != nil {
			setDefault(&from.FileKeyRef.Optional, new(false))
		}
	}
	for i := range c.Ports {
		port := &c.Ports[i]
		setDefault(&port.Protocol, v1.ProtocolTCP)
		if hostNetwork {
			setDefault(&port.HostPort, port.ContainerPort)
		}
	}
	for _, probe := range []*v1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			setProbeDefaults(probe)
		}
	}
	if l := c.Lifecycle; l != nil {
		for _, hook := range []*v1.LifecycleHandler{l.PostStart, l.PreStop} {
			if hook != nil && hook.HTTPGet != nil {
				setHTTPDefaults(hook.HTTPGet)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	if c.Resources.Limits != nil && c.Resources.Requests == nil {
		c.Resources.Requests = v1.ResourceList{}
	}
	for name, limit := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; !ok {
			c.Resources.Requests[name] = limit.DeepCopy()
		}
	}
}

func setProbeDefaults(p *v1.Probe) {
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setHTTPDefaults(p.HTTPGet)
	}
	if p.GRPC != nil {
		setDefault(&p.GRPC.Service, new(""))
	}
}

func setHTTPDefaults(h *v1.HTTPGetAction) {
	setDefault(&h.Path, "/")
	setDefault(&h.Scheme, v1.URISchemeHTTP)
}

// roundUp leaves what can be counted of quantities.
func roundUp(list v1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
