package kubeletconfig

import (
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// A container that one of both creates is unchanged for the other.
func TestOfKubelet(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"web:1", "registry.example/a/b@sha256:0123", "", "ümlaut<&>\"\\:1"} {
		for _, name := range []string{"main", "a-very-long-name-of-a-container-with-63-characters-in-its-name-xx"} {
			c := &v1.Container{Name: name, Image: image, Env: []v1.EnvVar{{Name: "A", Value: "b"}}}
			hash := strconv.FormatUint(kubecontainer.HashContainer(c), 16)
			if !criconfig.OfKubelet(map[string]string{"io.kubernetes.container.hash": hash}, c) {
				t.Errorf("container %q of image %q: the kubelet's hash is %s", name, image, hash)
			}
			other := *c
			other.Image += "2"
			if criconfig.OfKubelet(map[string]string{"io.kubernetes.container.hash": hash}, &other) {
				t.Errorf("container %q: image %q has the hash of %q", name, other.Image, image)
			}
		}
	}
}
