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

// withoutCPUs removes the masked paths of this machine's processors.
func withoutCPUs(config *runtimeapi.ContainerConfig) *runtimeapi.ContainerConfig {
	security := config.Linux.SecurityContext
	security.MaskedPaths = slices.DeleteFunc(security.MaskedPaths, func(path string) bool { return strings.HasPrefix(path, "/sys/devices/system/cpu/") })
	return config
}

func TestStopSignal(t *testing.T) {
	t.Parallel()
	named := func(signal string) *v1.Container {
		return &v1.Container{Lifecycle: &v1.Lifecycle{StopSignal: new(v1.Signal(signal))}}
	}
	for signal, want := range map[string]runtimeapi.Signal{
		"SIGUSR1": runtimeapi.Signal_SIGUSR1, "SIGRTMIN+3": runtimeapi.Signal_SIGRTMINPLUS3, "SIGRTMAX-14": runtimeapi.Signal_SIGRTMAXMINUS14,
		"SIGRTMIN": runtimeapi.Signal_SIGRTMIN, "SIGTERM": runtimeapi.Signal_SIGTERM,
	} {
		mustEqual(t, signal, want, stopSignal(named(signal)))
		mustEqual(t, want.String(), v1.Signal(signal), StopSignal(want))
	}
	mustEqual(t, "without a lifecycle", runtimeapi.Signal_RUNTIME_DEFAULT, stopSignal(&v1.Container{}))
	mustEqual(t, "of a runtime that says none", "", StopSignal(runtimeapi.Signal_RUNTIME_DEFAULT))
	mustEqual(t, "of a later runtime", "", StopSignal(999))
}

// The hashes are those of the first release. If one changed, an upgrade would restart every
// container.
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
