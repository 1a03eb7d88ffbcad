// Package abitest has what the tests of the ABI share: pods, and a reader of records and values
// that works as that of a guest does.
package abitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Time is the time of decisions in tests.
var Time = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// Pod returns the pod default/web with a container for each image.
func Pod(images ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"app": "web"}}}
	for _, image := range images {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "c", Image: image})
	}
	return p
}

// UsualPod returns a pod with an init container and three containers, as many pods have.
func UsualPod() *v1.Pod {
	p := Pod("registry.example/shop/web-frontend:1.2.3", "registry.example/shop/cache-sidecar:7.0.1", "registry.example/tools/log-shipper:2.4@sha256:0123456789ab")
	p.Spec.InitContainers = []v1.Container{{Name: "prepare-volumes", Image: "registry.example/tools/volumes:1.0"}}
	for i, name := range []string{"web-frontend", "cache-sidecar", "log-shipper"} {
		p.Spec.Containers[i].Name = name
		p.Spec.Containers[i].SecurityContext = &v1.SecurityContext{Privileged: new(false), RunAsNonRoot: new(true)}
	}
	p.Labels = map[string]string{
		"app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop", "team": "storefront", "tier": "web",
	}
	return p
}

// FullPod returns a pod with a value of each kind that a projection treats differently.
func FullPod() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "shop", UID: "uid-1",
			Labels:            map[string]string{"b": "2", "a": "1", "app.kubernetes.io/name": "web", "empty": "", "it's": `a\b`},
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 4, 4, 5, 999, time.FixedZone("", 3600))),
			OwnerReferences:   []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}, {Kind: "Other"}},
		},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{{Name: "init", Image: "busybox", Command: []string{"a", "", "c"}}},
			Containers: []v1.Container{
				{
					Name: "web", Image: "nginx:1",
					Ports: []v1.ContainerPort{{HostPort: 80, ContainerPort: 8080}, {ContainerPort: 9090}},
					Resources: v1.ResourceRequirements{Limits: v1.ResourceList{
						v1.ResourceMemory: resource.MustParse("1Gi"), v1.ResourceCPU: resource.MustParse("1500m"),
					}},
					SecurityContext: &v1.SecurityContext{
						Privileged: new(false), RunAsUser: new(int64(0)),
						Capabilities: &v1.Capabilities{Add: []v1.Capability{"NET_ADMIN", "SYS_TIME"}},
					},
					LivenessProbe: &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Port: intstr.FromString("http")}}},
				},
				{
					Name:          "side",
					LivenessProbe: &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Port: intstr.FromInt32(8081)}}},
				},
			},
			EphemeralContainers: []v1.EphemeralContainer{{
				EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug", Image: "alpine"}, TargetContainerName: "web",
			}},
			Volumes: []v1.Volume{
				{Name: "data", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/data"}}},
				{Name: "tmp", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("64Mi"))}}},
			},
			HostNetwork: true, TerminationGracePeriodSeconds: new(int64(0)),
		},
	}
}

// Specification returns the part of the ABI's specification below a heading. root is the path of the repository.
func Specification(tb testing.TB, root, heading string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "abi.md"))
	if err != nil {
		tb.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		tb.Fatalf("docs/abi.md has no heading %q", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// Says checks that the ABI's specification has these texts, whatever their line breaks.
func Says(tb testing.TB, root string, texts ...string) {
	tb.Helper()
	all, err := os.ReadFile(filepath.Join(root, "docs", "abi.md"))
	if err != nil {
		tb.Fatal(err)
	}
	have := strings.Join(strings.Fields(string(all)), " ")
	for _, want := range texts {
		if !strings.Contains(have, want) {
			tb.Errorf("docs/abi.md does not say %q", want)
		}
	}
}
