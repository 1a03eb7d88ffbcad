package pod

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Field is a field of a pod by its path, as the downward API names it: what source and scheduler say of the pod, not
// what the node finds out. ok is false for any other field.
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

// Subscript splits the path of a key of a map, such as metadata.labels['app'], into map and key; ok is false for any
// other path.
func Subscript(path string) (of, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "['")
}

// VolumeField is a field of a pod for a file of a volume, which may also have all labels or annotations.
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

// lines are the entries of a map, sorted: key="value".
func lines(m map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(all, "\n")
}
