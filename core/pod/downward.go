package pod

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Field returns a field of a pod by its path in the downward API, if the source or the scheduler
// sets that field. ok is false for any other field.
func Field(p *v1.Pod, path string) (value string, ok bool) {
	if of, key, subscript := Subscript(path); subscript {
		switch of {
		case "metadata.labels":
			return p.Labels[key], true
		case "metadata.annotations":
			return p.Annotations[key], true
		}
		return "", false
	}
	switch path {
	case "metadata.name":
		return p.Name, true
	case "metadata.namespace":
		return p.Namespace, true
	case "metadata.uid":
		return string(p.UID), true
	case "spec.nodeName":
		return p.Spec.NodeName, true
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, true
	}
	return "", false
}

// Subscript splits the path of a map key, such as metadata.labels['app'], into map and key. ok is
// false for any other path.
func Subscript(path string) (of, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "['")
}

// VolumeField returns a field of a pod for a file in a volume, which may also contain all labels or
// annotations.
func VolumeField(p *v1.Pod, path string) (string, error) {
	switch path {
	case "metadata.labels":
		return lines(p.Labels), nil
	case "metadata.annotations":
		return lines(p.Annotations), nil
	}
	value, ok := Field(p, path)
	if !ok || strings.HasPrefix(path, "spec.") {
		return "", fmt.Errorf("unknown field %q", path)
	}
	return value, nil
}

// lines returns the entries of a map as lines key="value", sorted by key.
func lines(m map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(all, "\n")
}

// ResourceField returns a resource of a container in units of its divisor, rounded up. The
// container is the one that the selector names, else c. The value of a limit that is not set is that
// of the whole pod, else the allocatable amount of the node.
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
	if !said && kind == "limits" && p.Spec.Resources != nil {
		q = p.Spec.Resources.Limits[v1.ResourceName(name)]
		said = q.Sign() > 0
	}
	if !said && kind == "limits" {
		q = allocatable()[v1.ResourceName(name)]
	}
	return inUnits(v1.ResourceName(name), q, of.Divisor), nil
}

// inUnits returns a quantity in units of a divisor, which is 1 if it is not set.
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
