package condition

import (
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func compiled(tb testing.TB, expression string) *Condition {
	tb.Helper()
	c, err := Compile(expression)
	if err != nil {
		tb.Fatalf("%s\n%v", expression, err)
	}
	return c
}

var testTime = time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC)

// webPod has a value in every kind of field that conditions read.
func webPod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "shop", UID: "u-1", Generation: 3,
			CreationTimestamp: metav1.NewTime(time.Date(2026, 2, 1, 0, 0, 0, 0, time.FixedZone("", 3600))),
			Labels:            map[string]string{"tier": "web", "app": "shop", "empty": ""},
			Annotations:       map[string]string{"team": "blue"},
			OwnerReferences:   []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: new(int64(30)),
			HostUsers:                     new(false),
			Overhead: corev1.ResourceList{
				"a": resource.MustParse("0.1Gi"), "b": resource.MustParse("0"), "c": resource.MustParse("-5"),
				"d": resource.MustParse("12345678901234567890123"), "e": resource.MustParse("1e3"), "f": resource.MustParse("1E"),
			},
			NodeSelector:   map[string]string{"disk": "ssd"},
			InitContainers: []corev1.Container{{Name: "init", Image: "registry.example/init:1"}},
			Containers: []corev1.Container{
				{
					Name: "app", Image: "registry.example/app:1", Args: []string{"serve", "--fast"},
					Ports: []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 80}},
					Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": *resource.NewQuantity(1<<30, resource.BinarySI)},
						Limits:   corev1.ResourceList{"cpu": resource.MustParse("2000m")},
					},
					SecurityContext: &corev1.SecurityContext{
						RunAsUser: new(int64(0)), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}},
					},
					LivenessProbe: &corev1.Probe{
						ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")}},
					},
				},
				{
					Name: "side", Image: "other.example/side",
					LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(81)}}},
				},
			},
			EphemeralContainers: []corev1.EphemeralContainer{{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "other.example/debug"},
				TargetContainerName:      "app",
			}},
			Volumes: []corev1.Volume{
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(1<<30, resource.BinarySI)}}},
			},
		},
	}
}

func webRequest() Request {
	return Request{
		Object: webPod(), Hook: "admit", Operation: "UPDATE", Source: "manifests", Kind: "file", Document: "web.yaml#0",
		Tenant: "a", Node: "node-1", Time: testTime, ClockSynchronized: true, Changed: []string{"images", "labels"},
	}
}
