//go:build e2e

package e2e

import (
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// Images are pulled from a registry on this machine, with and without a login.
func TestPull(t *testing.T) {
	for name, login := range map[string]privateruntime.Login{
		"open":  {},
		"login": {User: "web", Password: "secret"},
	} {
		t.Run(name, func(t *testing.T) { pull(t, login) })
	}
}

func pull(t *testing.T, login privateruntime.Login) {
	t.Helper()
	n := startNode(t)
	registry := startRegistry(t, n, login)
	image := &criapi.ImageSpec{Image: registry.Image("web:1")}
	if login.User != "" {
		if _, err := n.images.PullImage(t.Context(), &criapi.PullImageRequest{Image: image}); err == nil {
			t.Error("a pull without the login succeeded")
		}
	}
	auth := &criapi.AuthConfig{Username: login.User, Password: login.Password}
	if _, err := n.images.PullImage(t.Context(), &criapi.PullImageRequest{Image: image, Auth: auth}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.images.RemoveImage(t.Context(), &criapi.RemoveImageRequest{Image: image}); err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]bool{image.GetImage(): false, webImage: true} {
		status, err := n.images.ImageStatus(t.Context(), &criapi.ImageStatusRequest{Image: &criapi.ImageSpec{Image: reference}})
		if err != nil {
			t.Fatal(err)
		}
		if got := status.GetImage() != nil; got != want {
			t.Errorf("after removing the pulled image %s is there: %v, want %v", reference, got, want)
		}
	}
}

// startRegistry starts a registry that is stopped when the test ends.
func startRegistry(t *testing.T, n node, login privateruntime.Login) *privateruntime.Registry {
	t.Helper()
	registry, err := n.StartRegistry(t.Context(), login)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registry.Stop(); err != nil {
			t.Error(err)
		}
	})
	return registry
}
