package pod

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ResourceField is a resource of a container in units of its divisor, rounded up: of the one that the selector names, else of
// c. A limit that is not set is what the node has for pods.
func ResourceField(p *v1.Pod, c *v1.Container, of *v1.ResourceFieldSelector, allocatable func() v1.ResourceList) (string, error) {
	if of.ContainerName != "" {
		if c, _ = Container(p, of.ContainerName); c == nil {
			return "", fmt.Errorf("resourceFieldRef: no container %q", of.ContainerName)
		}
	}
	if c == nil {
		return "", errors.New("resourceFieldRef: containerName is missing")
	}
	kind, name, _ := strings.Cut(of.Resource, ".")
	list := c.Resources.Requests
	if kind == "limits" {
		list = c.Resources.Limits
	} else if kind != "requests" {
		return "", fmt.Errorf("resourceFieldRef: unknown resource %q", of.Resource)
	}
	q, said := list[v1.ResourceName(name)]
	if !said && kind == "limits" {
		q = allocatable()[v1.ResourceName(name)]
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
