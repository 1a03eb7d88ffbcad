package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestHostname(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 61)
	for name, tc := range map[string]struct {
		podName string
		spec    v1.PodSpec
		want    string
	}{
		"the pod's name":                           {podName: "web", want: "web"},
		"spec.hostname before the name":            {podName: "web", spec: v1.PodSpec{Hostname: "db"}, want: "db"},
		"hostnameOverride before all":              {podName: "web", spec: v1.PodSpec{Hostname: "db", HostnameOverride: new("db.example.org")}, want: "db.example.org"},
		"none on the node's network":               {podName: "web", spec: v1.PodSpec{HostNetwork: true, Hostname: "db"}, want: ""},
		"63 characters":                            {podName: long + "bbcc", want: long + "bb"},
		"no dash or dot where it was cut":          {podName: long + "-.cc", want: long},
		"a dash elsewhere stays":                   {podName: "a-b", want: "a-b"},
		"exactly 63 characters are left untouched": {podName: long + "bb", want: long + "bb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod(tc.podName)
			p.Spec.Hostname, p.Spec.HostnameOverride, p.Spec.HostNetwork = tc.spec.Hostname, tc.spec.HostnameOverride, tc.spec.HostNetwork
			mustEqual(t, "hostname", tc.want, hostname(p))
		})
	}
}

func TestHostsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	p.Spec.HostAliases = []v1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"db", "db.example.org"}}}
	got, err := r.hosts(p, []string{"10.88.0.3", "fd00::3"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "hosts-pod.golden", got)

	p.Spec.HostNetwork = true
	if got, err = r.hosts(p, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "hosts-node.golden", got)
}

func TestHostsFileIsMounted(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	onNode := newPod("web")
	onNode.Spec.HostNetwork = true
	for name, tc := range map[string]struct {
		run  pod.ContainerRun
		want bool
	}{
		"with an address":                    {pod.ContainerRun{Pod: p, SandboxIPs: []string{"10.88.0.3"}}, true},
		"not before there is one":            {pod.ContainerRun{Pod: p}, false},
		"on the node's network":              {pod.ContainerRun{Pod: onNode}, true},
		"not over the container's own":       {pod.ContainerRun{Pod: onNode, Mounts: []pod.Mount{{ContainerPath: "/etc/hosts"}}}, false},
		"not over its own, oddly written":    {pod.ContainerRun{Pod: onNode, Mounts: []pod.Mount{{ContainerPath: "/etc//hosts/"}}}, false},
		"beside a mount of something else":   {pod.ContainerRun{Pod: onNode, Mounts: []pod.Mount{{ContainerPath: "/etc/hosts.d"}}}, true},
		"beside a mount of the folder above": {pod.ContainerRun{Pod: onNode, Mounts: []pod.Mount{{ContainerPath: "/etc"}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "managed", tc.want, managesHosts(&tc.run))
		})
	}
}

// Containers that run have the file mounted: the inode must stay.
func TestHostsFileIsWrittenInPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := containerRun(newPod("web"), "", 0)
	file := r.layout.HostsFile(run.Pod.UID)
	if err := r.writeHosts(&run); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	run.SandboxIPs = []string{"10.88.0.99"}
	if err := r.writeHosts(&run); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), "10.88.0.99\tweb\n") || strings.Contains(string(content), "10.88.0.3\t") {
		t.Errorf("the new address is not in it, or the old one still is:\n%s", content)
	}
}

func TestHostsFileOfTheNodeMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.HostsFile = filepath.Join(t.TempDir(), "none")
	p := newPod("web")
	p.Spec.HostNetwork = true
	if _, err := r.hosts(p, nil); err == nil || !strings.Contains(err.Error(), r.config.HostsFile) {
		t.Errorf("error %v, want one that names the file", err)
	}
}
