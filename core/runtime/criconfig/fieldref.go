package criconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// variableValue returns the value of an environment variable from a field of its pod, its
// container's resources, a key of an object, or a file. ok is false if that is missing and may be
// missing.
func (b *Builder) variableValue(ctx context.Context, run *pod.ContainerRun, from *v1.EnvVarSource) (value string, ok bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = b.podField(run, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = pod.ResourceField(run.Pod, run.Container, from.ResourceFieldRef, b.allocatable)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		return b.configMapKey(ctx, run.Pod, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return b.secretKey(ctx, run.Pod, from.SecretKeyRef)
	case from.FileKeyRef != nil:
		return b.fileKey(run.Pod, from.FileKeyRef)
	}
	return "", false, errors.New("valueFrom says nothing; give it a value")
}

// podField returns a field of a pod by its path in the downward API.
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

// allocatable returns the node's allocatable resources.
func (b *Builder) allocatable() v1.ResourceList {
	if b.config.Node == nil {
		return nil
	}
	return b.config.Node().Status.Allocatable
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
