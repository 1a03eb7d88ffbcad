package runtime

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

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
