package criconfig

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestContainerConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod())
	mounts := []*runtimeapi.Mount{
		{HostPath: "/data", ContainerPath: "/srv/data", Readonly: true},
		{HostPath: "/tmp/x", ContainerPath: "/x"},
		{HostPath: "/var/lib/wardlet/pods/0123456789abcdef0123456789abcdef/etc-hosts", ContainerPath: "/etc/hosts"},
		{HostPath: "/var/lib/wardlet/pods/0123456789abcdef0123456789abcdef/containers/app/00000003", ContainerPath: "/dev/termination-log"},
	}
	config, err := plainBuilder().Container(t.Context(), &run, mounts)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "container-full.golden.json", asJSON(t, withoutCPUs(config)))

	p := fullPod()
	p.Spec.ShareProcessNamespace = new(true)
	run = fullRun(p)
	run.Container = &p.Spec.Containers[1]
	if config, err = plainBuilder().Container(t.Context(), &run, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "container-plain.golden.json", asJSON(t, withoutCPUs(config)))
}

// withoutCPUs leaves out the masked paths that are those of this machine's processors.
func withoutCPUs(config *runtimeapi.ContainerConfig) *runtimeapi.ContainerConfig {
	security := config.Linux.SecurityContext
	security.MaskedPaths = slices.DeleteFunc(security.MaskedPaths, func(path string) bool { return strings.HasPrefix(path, "/sys/devices/system/cpu/") })
	return config
}

// The hashes are those of the first release: were one to change, an upgrade
// would restart every container.
func TestContainerHashNeverChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, image, want string }{
		{"app", "registry.example/app:1", "b188a4f6"},
		{"app", "registry.example/app:2", "b088a363"},
		{"side", "registry.example/app:1", "289a5ae0"},
		{"", "", "050c5d1f"},
	} {
		if got := ContainerHash(&v1.Container{Name: tc.name, Image: tc.image}); got != tc.want {
			t.Errorf("%s %s: hash %s, want %s", tc.name, tc.image, got, tc.want)
		}
	}
}

func TestContainerHashCoversOnlyNameAndImage(t *testing.T) {
	t.Parallel()
	plain := &v1.Container{Name: "app", Image: "app:1"}
	other := &v1.Container{Name: "app", Image: "app:1", Command: []string{"sh"}, Env: []v1.EnvVar{{Name: "A", Value: "b"}}, TTY: true}
	if ContainerHash(plain) != ContainerHash(other) {
		t.Error("a change of command, env or tty changes the hash")
	}
}
