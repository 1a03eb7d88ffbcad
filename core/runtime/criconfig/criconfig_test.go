package criconfig

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/pod"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const appImage = "registry.example/app:1"

func TestPodsAreNotChanged(t *testing.T) {
	t.Parallel()
	p, untouched := fullPod(), fullPod()
	run := fullRun(p)
	if _, _, err := plainBuilder().Sandbox(&run.Sandbox); err != nil {
		t.Fatal(err)
	}
	if _, err := plainBuilder().Container(t.Context(), &run, nil); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "pod", untouched, p)
}

// newPod returns a small pod with one container, "app".
func newPod(name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: types.UID("uid-" + name),
		},
		Spec: v1.PodSpec{
			DNSPolicy: v1.DNSDefault,
			Containers: []v1.Container{{
				Name:                     "app",
				Image:                    appImage,
				ImagePullPolicy:          v1.PullIfNotPresent,
				TerminationMessagePath:   "/dev/termination-log",
				TerminationMessagePolicy: v1.TerminationMessageReadFile,
			}},
		},
	}
}

func sandboxRun(p *v1.Pod) pod.SandboxRun {
	return pod.SandboxRun{Pod: p, CgroupParent: "/wardlet/pod" + string(p.UID), Seen: time.Unix(1_700_000_000, 5_000_000).UTC(), Document: "app.yaml#0"}
}

// fullPod returns a pod that sets every field from which the configurations are made.
func fullPod() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "full", Namespace: "prod", UID: "0123456789abcdef0123456789abcdef",
			Labels: map[string]string{"tier": "web", pod.LabelPodName: "forged"},
			Annotations: map[string]string{
				pod.AnnotationSource: "manifests", pod.AnnotationHash: "0123456789abcdef0123456789abcdef",
				"note": "kept", pod.AnnotationInstallation: "forged",
				pod.AnnotationInstance: "forged", pod.AnnotationFinal: "forged",
			},
			DeletionGracePeriodSeconds: new(int64(7)),
		},
		Spec: v1.PodSpec{
			Hostname:                      "front",
			DNSPolicy:                     v1.DNSClusterFirst,
			DNSConfig:                     &v1.PodDNSConfig{Searches: []string{"pods.example.org"}},
			TerminationGracePeriodSeconds: new(int64(30)),
			HostAliases:                   []v1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"db"}}},
			Containers: []v1.Container{
				{
					Name:            "app",
					Image:           appImage,
					ImagePullPolicy: v1.PullIfNotPresent,
					Command:         []string{"/app", "--host=$(HOST)", "$$(HOST)"},
					Args:            []string{"$(URL)", "$(NONE)"},
					WorkingDir:      "/srv",
					Env:             []v1.EnvVar{{Name: "HOST", Value: "h"}, {Name: "URL", Value: "http://$(HOST)"}},
					Ports: []v1.ContainerPort{
						{Name: "http", ContainerPort: 80, HostPort: 8080, HostIP: "192.0.2.1", Protocol: v1.ProtocolTCP},
						{ContainerPort: 53, Protocol: v1.ProtocolUDP},
					},
					Resources: v1.ResourceRequirements{Requests: quantities("250m", "1Gi"), Limits: quantities("500m", "2Gi")},
					Lifecycle: &v1.Lifecycle{PreStop: &v1.LifecycleHandler{HTTPGet: &v1.HTTPGetAction{Path: "/bye", Port: intstr.FromInt32(80)}}},
					Stdin:     true, StdinOnce: true, TTY: true,
					TerminationMessagePath:   "/dev/termination-log",
					TerminationMessagePolicy: v1.TerminationMessageFallbackToLogsOnError,
				},
				{Name: "side", Image: "side:1", Ports: []v1.ContainerPort{{ContainerPort: 9, HostPort: 9, Protocol: v1.ProtocolSCTP}}},
			},
		},
	}
}

func fullRun(p *v1.Pod) pod.ContainerRun {
	return pod.ContainerRun{
		Pod: p, Container: &p.Spec.Containers[0], SandboxID: "sandbox", SandboxIPs: []string{"10.88.0.3"},
		Sandbox: pod.SandboxRun{
			Pod: p, Attempt: 2, CgroupParent: "/wardlet/burstable/pod0123", Document: "web.yaml#1",
			Seen: time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC),
		},
		Attempt:  3,
		ImageRef: "sha256:0a",
		Mounts:   []pod.Mount{{HostPath: "/data", ContainerPath: "/srv/data", ReadOnly: true}, {HostPath: "/tmp/x", ContainerPath: "/x"}},
	}
}

// plainBuilder returns a Builder of a small node.
func plainBuilder() *Builder {
	return New(Config{
		Installation: "install-1", ResolvConf: "testdata/resolv.conf", MemoryCapacity: 8 << 30,
		Layout: pod.Layout{PodRoot: "/var/lib/wardlet", LogRoot: "/var/log"},
	}, nil)
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// golden compares got with a file of testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", file, diff)
	}
}

func mustEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func expectError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
