package criconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// fieldValue is the value that an environment variable takes from a field of its pod or of its container's resources.
func (b *Builder) fieldValue(run *pod.ContainerRun, from *v1.EnvVarSource) (string, error) {
	switch {
	case from.FieldRef != nil:
		return b.podField(run, from.FieldRef.FieldPath)
	case from.ResourceFieldRef != nil:
		return b.resourceField(run, from.ResourceFieldRef)
	}
	return "", errors.New("valueFrom is supported with fieldRef and resourceFieldRef only; give it a value")
}

// podField is a field of a pod by its path, as the downward API names it.
func (b *Builder) podField(run *pod.ContainerRun, path string) (string, error) {
	if value, ok := pod.Field(run.Pod, path); ok {
		return value, nil
	}
	switch path {
	case "status.hostIP":
		return first(b.hostIPs()), nil
	case "status.hostIPs":
		return strings.Join(b.hostIPs(), ","), nil
	case "status.podIP":
		return first(b.podIPs(run)), nil
	case "status.podIPs":
		return strings.Join(b.podIPs(run), ","), nil
	}
	return "", fmt.Errorf("unknown field %q", path)
}

func (b *Builder) hostIPs() []string {
	var ips []string
	if b.config.Node == nil {
		return nil
	}
	for _, a := range b.config.Node().Status.Addresses {
		if a.Type == v1.NodeInternalIP {
			ips = append(ips, a.Address)
		}
	}
	return ips
}

func (b *Builder) podIPs(run *pod.ContainerRun) []string {
	if run.Pod.Spec.HostNetwork {
		return b.hostIPs()
	}
	return run.SandboxIPs
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// resourceField is a resource of a container in units of its divisor, rounded up. A limit that is not set is what the
// node has for pods.
func (b *Builder) resourceField(run *pod.ContainerRun, of *v1.ResourceFieldSelector) (string, error) {
	c := run.Container
	if of.ContainerName != "" {
		if c, _ = pod.Container(run.Pod, of.ContainerName); c == nil {
			return "", fmt.Errorf("resourceFieldRef: no container %q", of.ContainerName)
		}
	}
	kind, name, _ := strings.Cut(of.Resource, ".")
	list := c.Resources.Requests
	if kind == "limits" {
		list = c.Resources.Limits
	} else if kind != "requests" {
		return "", fmt.Errorf("resourceFieldRef: unknown resource %q", of.Resource)
	}
	q, said := list[v1.ResourceName(name)]
	if !said && kind == "limits" && b.config.Node != nil {
		q = b.config.Node().Status.Allocatable[v1.ResourceName(name)]
	}
	return inUnits(v1.ResourceName(name), q, of.Divisor), nil
}

// inUnits is a quantity in units of a divisor, which is 1 where it is not set.
func inUnits(name v1.ResourceName, q, divisor resource.Quantity) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	value, unit := q.Value(), divisor.Value()
	if name == v1.ResourceCPU {
		value, unit = q.MilliValue(), divisor.MilliValue()
	}
	units := value / unit
	if value%unit > 0 {
		units++
	}
	return strconv.FormatInt(units, 10)
}
