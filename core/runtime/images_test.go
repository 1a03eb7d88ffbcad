package runtime

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestPullImage_usesTheCredential(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Publish(appImage, 1000, fakecri.Program{})
	r.cri.Protect(appImage, "me", "secret")
	for name, tc := range map[string]struct {
		auth *pod.RegistryAuth
		want string
	}{
		"without":       {nil, "401 Unauthorized"},
		"a wrong one":   {&pod.RegistryAuth{Username: "me", Password: "no"}, "401 Unauthorized"},
		"the right one": {&pod.RegistryAuth{Username: "me", Password: "secret"}, ""},
	} {
		id, err := r.PullImage(t.Context(), appImage, tc.auth)
		if tc.want != "" {
			expectError(t, err, "ErrImagePull", `pull image "registry.example/app:1"`, tc.want)
			continue
		}
		if err != nil || id != fakecri.ImageID(appImage) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load(appImage, 1000, fakecri.Program{})
	for _, ref := range []string{appImage, fakecri.ImageID(appImage)} {
		found, err := r.Image(t.Context(), ref)
		if err != nil || found == nil || found.ID != fakecri.ImageID(appImage) || found.SizeBytes != 1000 || found.Pinned || !slices.Contains(found.Names, appImage) {
			t.Errorf("%s: %v, %v", ref, found, err)
		}
	}
	if found, err := r.Image(t.Context(), "registry.example/other:1"); err != nil || found != nil {
		t.Errorf("an absent one: %v, %v", found, err)
	}
}

func TestRemoveImage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const other = "registry.example/other:1"
	r.cri.Load(appImage, 1000, fakecri.Program{})
	r.cri.Load(other, 500, fakecri.Program{})
	r.start(t, newPod("web"), fakecri.Program{Exits: true})
	used, err := r.UsedImages(t.Context())
	if err != nil || !used[fakecri.ImageID(appImage)] || used[fakecri.ImageID(other)] || used[other] {
		t.Errorf("used images %v, %v", used, err)
	}
	for range 2 { // the second time it is gone
		if err := r.RemoveImage(t.Context(), fakecri.ImageID(other)); err != nil {
			t.Error(err)
		}
	}
	if images, err := r.Images(t.Context()); err != nil || len(images) != 1 || images[0].ID != fakecri.ImageID(appImage) {
		t.Errorf("images %v, %v", images, err)
	}
}

func TestImageStoreBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.SetImageStore(12345)
	if used, err := r.ImageStoreBytes(t.Context()); err != nil || used != 12345 {
		t.Errorf("on a disk of another machine: %d, %v", used, err)
	}
	r.cri.SetImageStoreDir(t.TempDir())
	if used, err := r.ImageStoreBytes(t.Context()); err != nil || used <= 12345 {
		t.Errorf("on a disk of this machine: %d, %v", used, err)
	}
}

func TestImageStore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if path, err := r.ImageStore(t.Context()); err != nil || path != "" {
		t.Errorf("of a runtime that does not say: %q, %v", path, err)
	}
	dir := t.TempDir()
	r.cri.SetImageStoreDir(dir)
	if path, err := r.ImageStore(t.Context()); err != nil || path != dir {
		t.Errorf("got %q, %v; want %q", path, err, dir)
	}
	r.cri.Stop()
	if _, err := r.ImageStore(t.Context()); err == nil {
		t.Error("no error without a runtime")
	}
	if _, err := r.WritableLayers(t.Context()); err == nil {
		t.Error("no error of layers without a runtime")
	}
}

func TestLastImage_isOfTheSameName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load(appImage, 1000, fakecri.Program{})
	p := newPod("web")
	last := func(c *v1.Container) string {
		t.Helper()
		id, err := r.LastImage(t.Context(), p, c)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	mustEqual(t, "before it ran", "", last(&p.Spec.Containers[0]))
	id, err := r.StartContainer(t.Context(), containerRun(p, r.runSandbox(t, p), 0))
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "while it runs", fakecri.ImageID(appImage), last(&p.Spec.Containers[0]))
	if err := r.StopContainer(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "when it has ended", fakecri.ImageID(appImage), last(&p.Spec.Containers[0]))
	edited := p.Spec.Containers[0]
	edited.Image = "registry.example/app:2"
	mustEqual(t, "of another image", "", last(&edited))
}

func TestImageUser(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, user := range map[string]string{"named:1": "app", "numbered:1": "7", "root:1": ""} {
		r.cri.Load(name, 1, fakecri.Program{User: user})
	}
	for image, want := range map[string]struct {
		uid  int64
		user string
	}{"named:1": {0, "app"}, "numbered:1": {7, ""}, "root:1": {0, ""}} {
		if uid, user, err := r.imageUser(t.Context(), image); err != nil || uid != want.uid || user != want.user {
			t.Errorf("%s runs as %d, %q, %v; want %v", image, uid, user, err, want)
		}
	}
	_, _, err := r.imageUser(t.Context(), "gone")
	expectError(t, err, "the image is gone")
}
