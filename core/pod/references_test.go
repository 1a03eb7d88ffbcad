package pod

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestReferences_areEachNamedOnce(t *testing.T) {
	t.Parallel()
	local := func(name string) v1.LocalObjectReference { return v1.LocalObjectReference{Name: name} }
	optional := new(true)
	for name, tt := range map[string]struct {
		spec v1.PodSpec
		want []Reference
	}{
		"none": {v1.PodSpec{Volumes: []v1.Volume{{VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}}, nil},
		"volumes": {v1.PodSpec{Volumes: []v1.Volume{
			{VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "tls"}}},
			{VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: local("conf"), Optional: optional}}},
			{VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
				{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: local("b")}},
				{Secret: &v1.SecretProjection{LocalObjectReference: local("a")}},
				{DownwardAPI: &v1.DownwardAPIProjection{}},
			}}}},
		}}, []Reference{{false, "b", false}, {false, "conf", true}, {true, "a", false}, {true, "tls", false}}},
		"environment of every kind of container": {v1.PodSpec{
			InitContainers: []v1.Container{{EnvFrom: []v1.EnvFromSource{
				{ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: local("init")}},
				{SecretRef: &v1.SecretEnvSource{LocalObjectReference: local("init")}},
			}}},
			Containers: []v1.Container{{Env: []v1.EnvVar{
				{Value: "plain"},
				{ValueFrom: &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: local("main")}}},
			}}},
			EphemeralContainers: []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Env: []v1.EnvVar{
				{ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: local("debug"), Optional: optional}}},
			}}}},
		}, []Reference{{false, "init", false}, {false, "main", false}, {true, "debug", true}, {true, "init", false}}},
		"a mention that is not optional counts": {v1.PodSpec{
			ImagePullSecrets: []v1.LocalObjectReference{local("registry"), local("both"), local("")},
			Volumes: []v1.Volume{
				{VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "both", Optional: optional}}},
				{VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "both"}}},
			},
		}, []Reference{{true, "both", false}, {true, "registry", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := References(&v1.Pod{Spec: tt.spec}); !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
