//go:build e2e

package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// Needs root.
func TestAVolumeInMemoryForReal(t *testing.T) {
	t.Parallel()
	// The root contains a space and is behind a link, so the kernel lists it under another name.
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "pod root"), 0o700))
	check(t, os.Symlink("pod root", filepath.Join(dir, "link")))
	layout := pod.Layout{PodRoot: filepath.Join(dir, "link")}
	v, err := New(layout, 1<<30, nil, noResources, always)
	check(t, err)
	p := newPod(emptyDir("fast", v1.StorageMediumMemory))
	p.Spec.Volumes[0].EmptyDir.SizeLimit = new(resource.MustParse("1Mi"))
	t.Cleanup(func() { check(t, v.Remove(t.Context(), p.UID)) })

	check(t, v.Setup(t.Context(), p))
	path := v.layout.VolumeDir(p.UID, EmptyDirPlugin, "fast")
	wantMode(t, path, os.ModeDir|os.ModeSticky|0o777)
	var stat unix.Statfs_t
	check(t, unix.Statfs(path, &stat))
	if stat.Type != unix.TMPFS_MAGIC || stat.Blocks*uint64(stat.Bsize) != 1<<20 {
		t.Errorf("type %x of %d blocks, want a tmpfs of 1 MiB", stat.Type, stat.Blocks)
	}
	check(t, os.WriteFile(filepath.Join(path, "file"), []byte("x"), 0o600))

	// After a restart of the agent the file is still there.
	v, err = New(layout, 1<<30, nil, noResources, always)
	check(t, err)
	check(t, v.Setup(t.Context(), p))
	wantMode(t, filepath.Join(path, "file"), 0o600)
	if mounts, err := v.kernel.mounts(v.layout.PodDir(p.UID)); err != nil || len(mounts) != 1 {
		t.Errorf("mounts %v, %v", mounts, err)
	}

	// An open file keeps the volume, and nothing is lost.
	f, err := os.Open(filepath.Join(path, "file"))
	check(t, err)
	wantError(t, v.Teardown(t.Context(), p.UID), "a process still uses it")
	wantMode(t, filepath.Join(path, "file"), 0o600)
	check(t, f.Close())

	// A foreign mount in the volume is named.
	inside := filepath.Join(path, "inside")
	check(t, os.Mkdir(inside, 0o700))
	check(t, unix.Mount(dir, inside, "", unix.MS_BIND, ""))
	wantError(t, v.Remove(t.Context(), p.UID), inside)
	check(t, unix.Unmount(inside, 0))

	check(t, v.Remove(t.Context(), p.UID))
	gone(t, v.layout.PodDir(p.UID))
}

// Needs root.
func TestAPartOfAVolumeForReal(t *testing.T) {
	t.Parallel()
	layout := pod.Layout{PodRoot: t.TempDir()}
	v, err := New(layout, 1<<30, nil, noResources, always)
	check(t, err)
	p, volume := parted(t, v, "part")
	t.Cleanup(func() { check(t, v.Remove(context.WithoutCancel(t.Context()), p.UID)) })
	mount := func() string {
		t.Helper()
		mounts, err := v.Mounts(p, &p.Spec.Containers[0], nil)
		check(t, err)
		return mounts[0].HostPath
	}
	target := mount()
	check(t, os.WriteFile(filepath.Join(volume, "part", "file"), []byte("x"), 0o600))
	wantMode(t, filepath.Join(target, "file"), 0o600)

	// A link that the workload puts in place of the part is not followed.
	outside := t.TempDir()
	check(t, os.Rename(filepath.Join(volume, "part"), filepath.Join(volume, "old")))
	check(t, os.Symlink(outside, filepath.Join(volume, "part")))
	wantMode(t, filepath.Join(target, "file"), 0o600)
	_, err = v.Mounts(p, &p.Spec.Containers[0], nil)
	wantError(t, err, "a link leads out of the volume")

	// After a restart of the agent or the container, the mount is reused. It is replaced if the
	// part is another one.
	check(t, os.Remove(filepath.Join(volume, "part")))
	check(t, os.Rename(filepath.Join(volume, "old"), filepath.Join(volume, "part")))
	mount()
	if mounts, err := v.kernel.mounts(v.layout.PodDir(p.UID)); err != nil || len(mounts) != 1 {
		t.Errorf("mounts %v, %v", mounts, err)
	}
	check(t, os.RemoveAll(filepath.Join(volume, "part")))
	check(t, os.WriteFile(filepath.Join(volume, "part"), []byte("a file"), 0o600))
	mount()
	wantMode(t, target, 0o600)
	check(t, v.Teardown(t.Context(), p.UID))
	if mounts, err := v.kernel.mounts(v.layout.PodDir(p.UID)); err != nil || len(mounts) != 0 {
		t.Errorf("mounts after the teardown %v, %v", mounts, err)
	}
}

// Needs root. If the files do not fit, the old files stay and nothing of the new ones is left.
func TestFilesOnAFullTmpfsForReal(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	check(t, unix.Mount("tmpfs", at, "tmpfs", 0, "size=64k"))
	t.Cleanup(func() { check(t, unix.Unmount(at, 0)) })
	dir, err := os.OpenRoot(at)
	check(t, err)
	defer dir.Close()
	files := func(size int) map[string]content {
		return map[string]content{
			"a": {data: []byte("a"), mode: 0o644, user: -1, group: -1}, "big": {data: []byte(strings.Repeat("x", size)), mode: 0o644, user: -1, group: -1},
		}
	}
	check(t, writeFiles(dir, files(4<<10), testNow()))
	wantError(t, writeFiles(dir, files(128<<10), testNow()), "no space left on device")
	if text, err := os.ReadFile(filepath.Join(at, "big")); err != nil || len(text) != 4<<10 {
		t.Errorf("after a failure the file has %d bytes, %v", len(text), err)
	}
	if entries, err := os.ReadDir(at); err != nil || len(entries) != 4 {
		t.Errorf("after a failure there are %v, %v", entries, err)
	}
	check(t, writeFiles(dir, files(8<<10), testNow()))
}

// TestASubPathOfTheNodeForReal: what the node mounts below a path that a pod has a part of stays
// mounted when the part is mounted again, and when the pod ends.
func TestASubPathOfTheNodeForReal(t *testing.T) {
	t.Parallel()
	node := t.TempDir()
	check(t, unix.Mount("tmpfs", node, "tmpfs", 0, ""))
	t.Cleanup(func() { check(t, unix.Unmount(node, unix.MNT_DETACH)) })
	check(t, unix.Mount("", node, "", unix.MS_SHARED, ""))
	disk := filepath.Join(node, "disks", "usb")
	check(t, os.MkdirAll(disk, 0o755))
	v, err := New(pod.Layout{PodRoot: t.TempDir()}, 1<<30, nil, noResources, always)
	check(t, err)
	p := newPod(hostPath("media", node, v1.HostPathDirectory))
	p.Spec.Containers = []v1.Container{{Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "media", MountPath: "/media", SubPath: "disks"}}}}
	check(t, v.Setup(t.Context(), p))
	mount := func() string {
		t.Helper()
		mounts, err := v.Mounts(p, &p.Spec.Containers[0], nil)
		check(t, err)
		return mounts[0].HostPath
	}
	target := mount()
	check(t, unix.Mount("tmpfs", disk, "tmpfs", 0, ""))
	check(t, os.WriteFile(filepath.Join(disk, "file"), nil, 0o600))
	wantMode(t, filepath.Join(target, "usb", "file"), 0o600)
	mount()
	wantMode(t, filepath.Join(disk, "file"), 0o600)
	wantMode(t, filepath.Join(target, "usb", "file"), 0o600)
	// The part becomes another directory.
	check(t, os.Rename(filepath.Join(node, "disks"), filepath.Join(node, "old")))
	check(t, os.Mkdir(filepath.Join(node, "disks"), 0o755))
	mount()
	wantMode(t, filepath.Join(node, "old", "usb", "file"), 0o600)
	check(t, os.Remove(filepath.Join(node, "disks")))
	check(t, os.Rename(filepath.Join(node, "old"), filepath.Join(node, "disks")))
	mount()
	check(t, v.Remove(t.Context(), p.UID))
	wantMode(t, filepath.Join(disk, "file"), 0o600)
	gone(t, v.layout.PodDir(p.UID))
}

// TestASecretOfTenThousandKeysForReal: all its files fit into memory, also beside those that they
// replace.
func TestASecretOfTenThousandKeysForReal(t *testing.T) {
	t.Parallel()
	s := &server{secrets: map[string]*v1.Secret{"x": {Data: map[string][]byte{}}}}
	v, err := New(pod.Layout{PodRoot: t.TempDir()}, 1<<30, s, noResources, always)
	check(t, err)
	p := newPod(v1.Volume{Name: "files", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "x"}}})
	t.Cleanup(func() { check(t, v.Remove(context.WithoutCancel(t.Context()), p.UID)) })
	for _, text := range []string{"old", "new"} {
		for i := range 10_000 {
			s.secrets["x"].Data[fmt.Sprint("key-", i)] = []byte(text)
		}
		check(t, v.Setup(t.Context(), p))
		if got, err := os.ReadFile(filepath.Join(v.layout.VolumeDir(p.UID, secretPlugin, "files"), "key-9999")); err != nil || string(got) != text {
			t.Errorf("the file says %q, %v", got, err)
		}
	}
	var stat unix.Statfs_t
	check(t, unix.Statfs(v.layout.VolumeDir(p.UID, secretPlugin, "files"), &stat))
	if want := int64(unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC); int64(stat.Flags)&want != want { //nolint:unconvert // the types differ by platform
		t.Errorf("the file system has the flags %#x", stat.Flags)
	}
}
