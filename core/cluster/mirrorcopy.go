package cluster

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// AnnotationOmitted names, on a mirror pod, the parts of the static pod that it lacks, separated by
// semicolons. A node may not create pods that refer to other objects, and the objects of a static
// pod are those of its node.
const AnnotationOmitted = "wardlet.dev/mirror-omits"

// mirrorOf returns the mirror pod of a static pod on a node: a copy with the owner and without the
// references to other objects that the API server demands (NodeRestriction), and without the
// priority, which the API server sets from its priority classes.
func mirrorOf(p *v1.Pod, node *v1.Node) *v1.Pod {
	mirror := &v1.Pod{Spec: *p.Spec.DeepCopy()}
	mirror.Name, mirror.Namespace, mirror.Labels = p.Name, p.Namespace, p.Labels
	mirror.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1.SchemeGroupVersion.String(), Kind: "Node", Name: node.Name, UID: node.UID, Controller: new(true),
	}}
	mirror.Spec.NodeName = node.Name
	mirror.Spec.Priority, mirror.Spec.PreemptionPolicy = nil, nil
	omitted := omitReferences(&mirror.Spec)
	mirror.Annotations = map[string]string{}
	for key, value := range p.Annotations {
		if key != AnnotationOmitted {
			mirror.Annotations[key] = value
		}
	}
	mirror.Annotations[pod.AnnotationMirror] = mirrorHash(p)
	if len(omitted) > 0 {
		mirror.Annotations[AnnotationOmitted] = strings.Join(omitted, "; ")
	}
	return mirror
}

// mirrorHash returns the value of the annotation by which a mirror pod belongs to a static pod.
func mirrorHash(p *v1.Pod) string {
	if hash := p.Annotations[pod.AnnotationHash]; hash != "" {
		return hash
	}
	return string(p.UID)
}

// omitReferences removes from a spec what refers to other objects, and returns the removed parts.
func omitReferences(spec *v1.PodSpec) (omitted []string) {
	if class := spec.RuntimeClassName; class != nil {
		omitted = append(omitted, "runtimeClassName "+*class)
	}
	spec.RuntimeClassName, spec.Overhead = nil, nil // the API server accepts an overhead only with its class
	if spec.ServiceAccountName != "" {
		omitted = append(omitted, "serviceAccountName "+spec.ServiceAccountName)
		spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
	}
	for _, s := range spec.ImagePullSecrets {
		omitted = append(omitted, "imagePullSecret "+s.Name)
	}
	spec.ImagePullSecrets = nil
	for _, c := range spec.ResourceClaims {
		omitted = append(omitted, "resourceClaim "+c.Name)
	}
	spec.ResourceClaims = nil
	var volumes []v1.Volume
	gone := map[string]bool{}
	for _, v := range spec.Volumes {
		if omitVolume(&v) {
			gone[v.Name] = true
			omitted = append(omitted, "volume "+v.Name)
			continue
		}
		volumes = append(volumes, v)
	}
	spec.Volumes = volumes
	for c := range pod.Containers(&v1.Pod{Spec: *spec}) {
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return gone[m.Name] })
		c.VolumeDevices = slices.DeleteFunc(c.VolumeDevices, func(d v1.VolumeDevice) bool { return gone[d.Name] })
		c.Resources.Claims = nil
		c.Env = slices.DeleteFunc(c.Env, func(e v1.EnvVar) bool {
			from := e.ValueFrom
			omit := from != nil && (from.SecretKeyRef != nil || from.ConfigMapKeyRef != nil || from.FileKeyRef != nil && gone[from.FileKeyRef.VolumeName])
			if omit {
				omitted = append(omitted, "env "+e.Name+" of "+c.Name)
			}
			return omit
		})
		for _, from := range c.EnvFrom {
			switch {
			case from.SecretRef != nil:
				omitted = append(omitted, "envFrom Secret "+from.SecretRef.Name+" of "+c.Name)
			case from.ConfigMapRef != nil:
				omitted = append(omitted, "envFrom ConfigMap "+from.ConfigMapRef.Name+" of "+c.Name)
			}
		}
		c.EnvFrom = nil
	}
	return omitted
}

// omitVolume removes the sources of a projected volume that refer to other objects. It reports
// whether the volume refers to some, or has no source after that.
func omitVolume(v *v1.Volume) bool {
	s := &v.VolumeSource
	if s.Projected == nil {
		return s.EmptyDir == nil && s.HostPath == nil && s.DownwardAPI == nil && s.Image == nil && s.NFS == nil
	}
	s.Projected.Sources = slices.DeleteFunc(s.Projected.Sources, func(p v1.VolumeProjection) bool { return p.DownwardAPI == nil })
	return len(s.Projected.Sources) == 0
}
