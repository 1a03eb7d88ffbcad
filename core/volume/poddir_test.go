package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

func TestSetupMakesThePodDirectoryAndSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod()
	check(t, v.Setup(t.Context(), p))
	wantMode(t, v.layout.PodDir(p.UID), os.ModeDir|0o750)

	got, err := v.Owner(p.UID)
	check(t, err)
	if diff := cmp.Diff(p.ObjectMeta, got.ObjectMeta); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOwnerFollowsThePodAndMendsATornFile(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod()
	check(t, v.Setup(t.Context(), p))
	file := filepath.Join(v.layout.PodDir(p.UID), ownerFile)
	check(t, os.WriteFile(file, []byte(`{"namespace":"sh`), 0o600))
	if _, err := v.Owner(p.UID); err == nil {
		t.Error("a torn file was believed")
	}
	p.Name = "renamed"
	check(t, v.Setup(t.Context(), p))
	got, err := v.Owner(p.UID)
	check(t, err)
	if got.Name != "renamed" {
		t.Errorf("owner %s", got.Name)
	}
}

func TestOwnerErrors(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	if _, err := v.Owner("none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	check(t, v.Setup(t.Context(), newPod()))
	check(t, os.Rename(v.layout.PodDir("uid-1"), v.layout.PodDir("uid-2")))
	_, err := v.Owner("uid-2")
	wantError(t, err, "names another pod, uid-1")
}

func TestADirectoryThatDoesNotSayWhoseItIs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		holds string
		want  error
	}{
		"holds something":               {"data/file", pod.ErrUnmarked},
		"is empty":                      {"", os.ErrNotExist},
		"was left when it was about to": {freshOwner, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			dir := v.layout.PodDir("u")
			check(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(tt.holds)), 0o700))
			if tt.holds != "" {
				check(t, os.WriteFile(filepath.Join(dir, tt.holds), nil, 0o600))
			}
			if _, err := v.Owner("u"); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

func TestAUIDThatIsNoNameMakesAndRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, uid := range []types.UID{"", ".", "..", "../escape", "a/b", "/etc"} {
		v, _ := newVolumes(t)
		p := newPod()
		p.UID = uid
		wantError(t, v.Setup(t.Context(), p), "change metadata.uid")
		wantError(t, v.Teardown(t.Context(), uid), "cannot be the name")
		wantError(t, v.Remove(t.Context(), uid), "cannot be the name")
		entries, err := os.ReadDir(v.layout.PodRoot)
		check(t, err)
		if len(entries) != 1 {
			t.Errorf("UID %q: %v below the pod root", uid, entries)
		}
	}
}

func TestWhatIsInTheWayOfThePodDirectoryIsNotUsed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	plant := map[string]func(path string) error{
		"a link to the outside":   func(path string) error { return os.Symlink(outside, path) },
		"a link to another pod":   func(path string) error { return os.Symlink("other", path) },
		"a file":                  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link that leads there": func(path string) error { return os.Symlink("nowhere", path) },
	}
	for name, plant := range plant {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			check(t, os.Mkdir(v.layout.PodDir("other"), 0o700))
			check(t, plant(v.layout.PodDir("uid-1")))
			wantError(t, v.Setup(t.Context(), newPod(emptyDir("data", ""))), "in the way of the pod's directory")
			for _, dir := range []string{outside, v.layout.PodDir("other")} {
				if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
					t.Errorf("%s: %v, %v", dir, entries, err)
				}
			}
		})
	}
}

func TestSetup_makesTheDirectoryOfPodsAgain(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*Volumes) string{
		"pods":     func(v *Volumes) string { return v.layout.PodsDir() },
		"pod_root": func(v *Volumes) string { return v.layout.PodRoot },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			check(t, os.RemoveAll(remove(v)))
			p := newPod()
			check(t, v.Setup(t.Context(), p))
			wantMode(t, v.layout.PodDir(p.UID), os.ModeDir|0o750)
			uids, err := v.Pods()
			check(t, err)
			if diff := cmp.Diff([]types.UID{p.UID}, uids); diff != "" {
				t.Errorf("pods with a directory (-want +got):\n%s", diff)
			}
		})
	}
}
