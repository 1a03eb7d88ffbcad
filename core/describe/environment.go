package describe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// environment writes the sources of a container's variables, and the variables. Values are shown as
// in the pod.
func (w *writer) environment(p *v1.Pod, c *v1.Container) {
	if len(c.EnvFrom) > 0 {
		w.row(2, "Environment Variables from:")
	}
	for i := range c.EnvFrom {
		from := &c.EnvFrom[i]
		var name, kind string
		var optional *bool
		switch {
		case from.ConfigMapRef != nil:
			name, kind, optional = from.ConfigMapRef.Name, "ConfigMap", from.ConfigMapRef.Optional
		case from.SecretRef != nil:
			name, kind, optional = from.SecretRef.Name, "Secret", from.SecretRef.Optional
		}
		if from.Prefix != "" {
			kind += " with prefix '" + from.Prefix + "'"
		}
		w.row(3, name, kind, fmt.Sprintf("Optional: %t", isSet(optional)))
	}
	if len(c.Env) == 0 {
		w.row(2, "Environment:", none)
		return
	}
	w.row(2, "Environment:")
	for i := range c.Env {
		w.variable(p, c, &c.Env[i])
	}
}

func (w *writer) variable(p *v1.Pod, c *v1.Container, e *v1.EnvVar) {
	label := e.Name + ":"
	from := e.ValueFrom
	switch {
	case from == nil:
		for line := range strings.SplitSeq(e.Value, "\n") {
			w.row(3, label, line)
			label = ""
		}
	case from.FieldRef != nil:
		w.row(3, label, fmt.Sprintf("%s (%s:%s)", fieldValue(p, from.FieldRef.FieldPath), from.FieldRef.APIVersion, from.FieldRef.FieldPath))
	case from.ResourceFieldRef != nil:
		of := from.ResourceFieldRef.Resource
		value := resourceValue(c, from.ResourceFieldRef)
		if value == "0" && (of == "limits.cpu" || of == "limits.memory") {
			value = "node allocatable"
		}
		w.row(3, label, value+" ("+of+")")
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		w.row(3, label, fmt.Sprintf("<set to the key '%s' in secret '%s'>", ref.Key, ref.Name), fmt.Sprintf("Optional: %t", isSet(ref.Optional)))
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		w.row(3, label, fmt.Sprintf("<set to the key '%s' of config map '%s'>", ref.Key, ref.Name), fmt.Sprintf("Optional: %t", isSet(ref.Optional)))
	}
}

// fieldValue returns a field of a pod; kubectl knows only these two.
func fieldValue(p *v1.Pod, path string) string {
	switch path {
	case "metadata.name":
		return p.Name
	case "metadata.namespace":
		return p.Namespace
	}
	return ""
}

// resourceValue returns a resource of a container in units of its divisor, rounded up. It is 0 for
// a resource that is not set, empty for an unknown one.
func resourceValue(c *v1.Container, of *v1.ResourceFieldSelector) string {
	list := c.Resources.Limits
	kind, name, _ := strings.Cut(of.Resource, ".")
	switch {
	case kind == "requests":
		list = c.Resources.Requests
	case kind != "limits":
		return ""
	}
	resourceName := v1.ResourceName(name)
	switch resourceName {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage:
	default:
		if !strings.HasPrefix(name, v1.ResourceHugePagesPrefix) {
			return ""
		}
	}
	divisor := of.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	quantity := list[resourceName]
	value, unit := quantity.Value(), divisor.Value()
	if resourceName == v1.ResourceCPU {
		value, unit = quantity.MilliValue(), divisor.MilliValue()
	}
	return strconv.FormatInt(int64(math.Ceil(float64(value)/float64(unit))), 10)
}
