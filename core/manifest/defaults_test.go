package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

func TestDecodeStampsAndDefaults(t *testing.T) {
	t.Parallel()
	got := decodeOne(t, manifest(
		"    ports: [{containerPort: 80}]",
		"    resources: {limits: {cpu: 100m, memory: 1Mi}, requests: {cpu: 0.0505}}",
		"  hostNetwork: true",
		"  volumes: [{name: h, hostPath: {path: /h}}, {name: e, emptyDir: {}}, {name: x}]",
	))
	cpu, memory, request := resource.MustParse("100m"), resource.MustParse("1Mi"), resource.MustParse("51m")
	want := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-node-1", Namespace: "default", UID: got.UID,
			Annotations: map[string]string{pod.AnnotationSource: "local", pod.AnnotationHash: string(got.UID)},
		},
		Spec: v1.PodSpec{
			NodeName:                      "Node-1",
			RestartPolicy:                 v1.RestartPolicyAlways,
			DNSPolicy:                     v1.DNSClusterFirst,
			SchedulerName:                 "default-scheduler",
			TerminationGracePeriodSeconds: new(int64(30)),
			EnableServiceLinks:            new(true),
			SecurityContext:               &v1.PodSecurityContext{},
			HostNetwork:                   true,
			Tolerations:                   []v1.Toleration{{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}},
			Volumes: []v1.Volume{
				{Name: "h", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/h", Type: new(v1.HostPathUnset)}}},
				{Name: "e", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
				{Name: "x", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
			},
			Containers: []v1.Container{{
				Name: "app", Image: "img", ImagePullPolicy: v1.PullAlways,
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: v1.TerminationMessageReadFile,
				Ports: []v1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: v1.ProtocolTCP}},
				Resources: v1.ResourceRequirements{
					Limits:   v1.ResourceList{"cpu": cpu, "memory": memory},
					Requests: v1.ResourceList{"cpu": request, "memory": memory},
				},
			}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

func TestPodsOfEveryKindTolerateWhatWouldEndThem(t *testing.T) {
	t.Parallel()
	want := []v1.Toleration{{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}}
	for _, kind := range []string{api.KindFile, api.KindHTTP} {
		from := testFrom
		from.Kind = kind
		got := Decode([]byte(manifest()), from)[0].Pod.Spec.Tolerations
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tolerations of kind %s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestWhatAPodToleratesStays(t *testing.T) {
	t.Parallel()
	all := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	gpu := v1.Toleration{Key: "gpu", Value: "yes", Effect: v1.TaintEffectNoExecute}
	for name, tc := range map[string]struct {
		said string
		want []v1.Toleration
	}{
		"what it says comes first":        {"[{key: gpu, value: 'yes', effect: NoExecute}]", []v1.Toleration{gpu, all}},
		"all for ever stays as it is":     {"[{operator: Exists, effect: NoExecute}]", []v1.Toleration{all}},
		"all for a while gives way":       {"[{operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {key: gpu, value: 'yes', effect: NoExecute}]", []v1.Toleration{all, gpu}},
		"every effect is not one of them": {"[{operator: Exists}]", []v1.Toleration{{Operator: v1.TolerationOpExists}, all}},
	} {
		got := decodeOne(t, manifest("  tolerations: "+tc.said)).Spec.Tolerations
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAClassOfEveryClusterHasItsPriority(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000} {
		got := decodeOne(t, manifest("  priorityClassName: "+class)).Spec
		if got.Priority == nil || *got.Priority != want || got.PriorityClassName != class {
			t.Errorf("%s: priority %v of class %s, want %d", class, got.Priority, got.PriorityClassName, want)
		}
	}
	if got := decodeOne(t, manifest()).Spec.Priority; got != nil {
		t.Errorf("a pod of no class has priority %d", *got)
	}
}

func TestWithoutHostNetworkAPortStaysInThePod(t *testing.T) {
	t.Parallel()
	if got := decodeOne(t, manifest("    ports: [{containerPort: 80}]")).Spec.Containers[0].Ports[0].HostPort; got != 0 {
		t.Errorf("hostPort %d", got)
	}
}

func TestPullPolicyDependsOnTheTag(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for image, want := range map[string]v1.PullPolicy{
		"img":                 v1.PullAlways,
		"img:latest":          v1.PullAlways,
		"img:1":               v1.PullIfNotPresent,
		"host:5000/img":       v1.PullAlways,
		"host:5000/img:1":     v1.PullIfNotPresent,
		"img" + digest:        v1.PullIfNotPresent,
		"img:latest" + digest: v1.PullAlways,
		"Host/img":            v1.PullAlways,
		"[::1]:5000/img":      v1.PullAlways,
		"a__b/c.d-e/img":      v1.PullAlways,
		// An invalid image name cannot be pulled.
		strings.Repeat("a", 64):           v1.PullIfNotPresent,
		strings.Repeat("a", 247):          v1.PullAlways,
		strings.Repeat("a", 248):          v1.PullIfNotPresent,
		"h/" + strings.Repeat("a", 254):   v1.PullIfNotPresent,
		"h.i/" + strings.Repeat("a", 255): v1.PullAlways,
		"h.i/" + strings.Repeat("a", 256): v1.PullIfNotPresent,
		"Img":                             v1.PullIfNotPresent,
		"img:":                            v1.PullIfNotPresent,
		"img@sha256:abc":                  v1.PullIfNotPresent,
		"img@md5:" + digest[8:]:           v1.PullIfNotPresent,
		"a b":                             v1.PullIfNotPresent,
		"img:" + strings.Repeat("a", 129): v1.PullIfNotPresent,
		"host:5000/a/img" + digest:        v1.PullIfNotPresent,
		"host:5000/a/img:1" + digest:      v1.PullIfNotPresent,
	} {
		if got := pod.PullPolicy(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}
