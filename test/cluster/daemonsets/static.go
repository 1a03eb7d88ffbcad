package daemonsets

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// StaticPods makes the changes of Rewrite, and returns one static pod of each workload. Because
// there is no API server, these pods have none of the following:
//
//   - a service account and its token, nor a volume that would hold only the token, nor its mounts;
//   - affinity to other pods, which a scheduler would use;
//   - labels that the node must have, except for that of its operating system: a controller of the
//     cluster adds them.
func (s *Set) StaticPods(host string) ([]*v1.Pod, error) {
	for _, w := range s.Workloads {
		template, _ := w.template()
		withoutCluster(&template.Spec)
	}
	if err := s.rewrite(host, false); err != nil {
		return nil, err
	}
	var pods []*v1.Pod
	for _, w := range s.Workloads {
		template, namespace := w.template()
		pods = append(pods, &v1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Name: w.name(), Namespace: namespace, Labels: template.Labels, Annotations: template.Annotations},
			Spec:       template.Spec,
		})
	}
	return pods, nil
}

// withoutCluster removes what needs an API server or a scheduler.
func withoutCluster(spec *v1.PodSpec) {
	spec.ServiceAccountName, spec.DeprecatedServiceAccount, spec.AutomountServiceAccountToken = "", "", nil
	if spec.Affinity != nil {
		spec.Affinity.PodAffinity, spec.Affinity.PodAntiAffinity = nil, nil
		if spec.Affinity.NodeAffinity == nil {
			spec.Affinity = nil
		}
	}
	for label := range spec.NodeSelector {
		if label != v1.LabelOSStable {
			delete(spec.NodeSelector, label)
		}
	}
	withoutTokens(spec)
}

// withoutTokens removes the tokens of service accounts from volumes.
func withoutTokens(spec *v1.PodSpec) {
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v v1.Volume) bool {
		if v.Projected == nil {
			return false
		}
		v.Projected.Sources = slices.DeleteFunc(v.Projected.Sources, func(source v1.VolumeProjection) bool {
			return source.ServiceAccountToken != nil
		})
		return len(v.Projected.Sources) == 0
	})
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, func(m v1.VolumeMount) bool {
				return !slices.ContainsFunc(spec.Volumes, func(v v1.Volume) bool { return v.Name == m.Name })
			})
		}
	}
}

// Files returns the ConfigMaps and Secrets of a set as one file for a directory of objects, empty
// if the set has none.
func (s *Set) Files() (string, error) {
	var file strings.Builder
	for _, o := range add(add(nil, s.ConfigMaps), s.Secrets) {
		text, err := yaml.Marshal(o)
		if err != nil {
			return "", err
		}
		file.WriteString("---\n" + string(text))
	}
	return file.String(), nil
}

// Objects returns the ConfigMaps and Secrets of a set in one namespace.
func (s *Set) Objects(namespace string) *Objects {
	o := &Objects{ConfigMaps: map[string]v1.ConfigMap{}, Secrets: map[string]v1.Secret{}}
	for _, c := range s.ConfigMaps {
		if c.Namespace == namespace {
			o.ConfigMaps[c.Name] = *c
		}
	}
	for _, secret := range s.Secrets {
		if secret.Namespace == namespace {
			filled := secret.DeepCopy()
			if filled.Data == nil {
				filled.Data = map[string][]byte{}
			}
			for key, value := range secret.StringData {
				filled.Data[key] = []byte(value)
			}
			o.Secrets[secret.Name] = *filled
		}
	}
	return o
}
