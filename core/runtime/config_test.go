package runtime

import (
	"encoding/json"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/pod"
)

// fullPod uses everything the configurations are made from.
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

// plainRuntime makes configurations only.
func plainRuntime() *Runtime {
	return &Runtime{config: Config{
		Installation: "install-1", ResolvConf: "testdata/resolv.conf", MemoryCapacity: 8 << 30,
		Layout: pod.Layout{PodRoot: "/var/lib/wardlet", LogRoot: "/var/log"},
	}}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func TestSandboxConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod()).Sandbox
	config, notices, err := plainRuntime().sandboxConfig(&run)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-pod-network.golden.json", asJSON(t, config))
	if len(notices) > 0 { // ClusterFirst is the default, and says nothing
		t.Errorf("notices %v, want none", notices)
	}

	p := fullPod()
	p.Spec.HostNetwork, p.Spec.HostPID, p.Spec.HostIPC = true, true, true
	run.Pod = p
	if config, _, err = plainRuntime().sandboxConfig(&run); err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-node-network.golden.json", asJSON(t, config))
}

func TestContainerConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod())
	config, err := plainRuntime().containerConfig(&run)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "container-full.golden.json", asJSON(t, config))

	p := fullPod()
	p.Spec.ShareProcessNamespace = new(true)
	run = fullRun(p)
	run.Container, run.Mounts, run.SandboxIPs = &p.Spec.Containers[1], nil, nil
	if config, err = plainRuntime().containerConfig(&run); err != nil {
		t.Fatal(err)
	}
	golden(t, "container-plain.golden.json", asJSON(t, config))
}

func TestSandboxConfigRefusesAnUnknownProtocol(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, Protocol: "HTTP"}}
	run := sandboxRun(p)
	_, _, err := plainRuntime().sandboxConfig(&run)
	expectError(t, err, `container "app": port 80: unknown protocol "HTTP"`)
}

func TestSeenHasNineDigits(t *testing.T) {
	t.Parallel()
	run := sandboxRun(newPod("web"))
	run.Seen = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	mustEqual(t, "config.seen", "2026-01-02T03:04:05.000000000Z", annotationsOf(t, &run)[pod.AnnotationSeen])
}

func TestASandboxTellsWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	marks := func(change func(*v1.Pod)) (instance, final string) {
		p := fullPod()
		if change != nil {
			change(p)
		}
		run := sandboxRun(p)
		annotations := annotationsOf(t, &run)
		return annotations[pod.AnnotationInstance], annotations[pod.AnnotationFinal]
	}
	instance, final := marks(nil)
	for _, c := range []struct {
		name                      string
		change                    func(*v1.Pod)
		otherInstance, otherFinal bool
	}{
		{"the same pod gives the same marks", nil, false, false},
		{"what was changed after judging is another object of the same instance", func(p *v1.Pod) { p.Spec.HostNetwork = true }, false, true},
		{"another document is another instance", func(p *v1.Pod) { p.Annotations[pod.AnnotationHash] = "0a" }, true, false},
		{"another UID is another of both", func(p *v1.Pod) { p.UID = "0a" }, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			i, f := marks(c.change)
			if (i != instance) != c.otherInstance || (f != final) != c.otherFinal {
				t.Errorf("instance %s and final object %s after %s and %s", i, f, instance, final)
			}
		})
	}
	p := fullPod()
	want, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "instance", want, instance)
	if want, err = pod.FinalHash(p); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "final object", want, final)
}

func TestASandboxOfAPodThatPoliciesChangedTellsWhatItsSourceHas(t *testing.T) {
	t.Parallel()
	p := fullPod()
	p.Annotations[pod.AnnotationMutated] = "forged"
	run := sandboxRun(p)
	plain := annotationsOf(t, &run)
	if _, ok := plain[pod.AnnotationMutated]; ok {
		t.Error("a document says that policies changed it")
	}
	run.Instance = "of the source"
	changed := annotationsOf(t, &run)
	mustEqual(t, "mark", "true", changed[pod.AnnotationMutated])
	mustEqual(t, "instance", "of the source", changed[pod.AnnotationInstance])
	mustEqual(t, "final object", plain[pod.AnnotationFinal], changed[pod.AnnotationFinal])
}

func annotationsOf(t *testing.T, run *pod.SandboxRun) map[string]string {
	t.Helper()
	annotations, _, err := plainRuntime().sandboxAnnotations(run)
	if err != nil {
		t.Fatal(err)
	}
	return annotations
}

func TestPodsAreNotChanged(t *testing.T) {
	t.Parallel()
	p, untouched := fullPod(), fullPod()
	run := fullRun(p)
	if _, _, err := plainRuntime().sandboxConfig(&run.Sandbox); err != nil {
		t.Fatal(err)
	}
	if _, err := plainRuntime().containerConfig(&run); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "pod", untouched, p)
}
