package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
)

func gone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}

func TestTeardownUnmountsAndRemovesVolumesAndKeepsThePodDirectory(t *testing.T) {
	t.Parallel()
	v, k := newVolumes(t)
	p := newPod(emptyDir("data", ""), emptyDir("fast", v1.StorageMediumMemory))
	check(t, v.Setup(t.Context(), p))
	check(t, v.Teardown(t.Context(), p.UID))
	check(t, v.Teardown(t.Context(), p.UID))
	gone(t, v.layout.VolumesDir(p.UID))
	if len(k.table) != 0 {
		t.Errorf("still mounted: %v", k.table)
	}
	if _, err := v.Owner(p.UID); err != nil {
		t.Errorf("the pod directory lost its owner: %v", err)
	}
}

func TestRemoveLeavesNothingOfThePodAndAllOfTheOthers(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p, other := newPod(emptyDir("data", "")), newPod(emptyDir("data", ""))
	other.UID = "uid-10"
	check(t, v.Setup(t.Context(), p))
	check(t, v.Setup(t.Context(), other))
	check(t, os.MkdirAll(v.layout.ContainerDir(p.UID, "main"), 0o700))
	check(t, os.WriteFile(v.layout.HostsFile(p.UID), nil, 0o600))
	check(t, v.Remove(t.Context(), p.UID))
	check(t, v.Remove(t.Context(), p.UID))
	gone(t, v.layout.PodDir(p.UID))
	wantMode(t, v.layout.VolumeDir(other.UID, EmptyDirPlugin, "data"), os.ModeDir|0o777)
}

func TestLinksAWorkloadPlantedAreNotFollowed(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p, outside := newPod(emptyDir("data", "")), t.TempDir()
	check(t, os.WriteFile(filepath.Join(outside, "keep"), nil, 0o600))
	check(t, v.Setup(t.Context(), p))
	data := v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data")
	check(t, os.Mkdir(filepath.Join(data, "sub"), 0o700))
	check(t, os.Symlink(outside, filepath.Join(data, "link")))
	check(t, os.Symlink(outside, filepath.Join(data, "sub", "link")))
	check(t, os.Symlink("../../../..", filepath.Join(data, "up")))
	check(t, unix.Mkfifo(filepath.Join(data, "fifo"), 0o600))
	// A link takes the place of a volume.
	check(t, os.Symlink(outside, filepath.Join(filepath.Dir(data), "swapped")))
	check(t, v.Remove(t.Context(), p.UID))
	gone(t, v.layout.PodDir(p.UID))
	wantMode(t, filepath.Join(outside, "keep"), 0o600)
	wantMode(t, v.layout.PodsDir(), os.ModeDir|0o700)
}

func TestAForeignMountIsNamedAndNothingIsRemoved(t *testing.T) {
	t.Parallel()
	tests := map[string]mountinfo.Mount{
		"in a volume":                       {Point: "volumes/kubernetes.io~empty-dir/data/sub", Type: "ext4"},
		"a tmpfs in a volume":               {Point: "volumes/kubernetes.io~empty-dir/data/sub", Type: tmpfs},
		"something else on a volume":        {Point: "volumes/kubernetes.io~empty-dir/data", Type: "nfs4"},
		"beside the volumes":                {Point: "containers/main", Type: tmpfs},
		"the pod directory":                 {Point: "", Type: "ext4"},
		"another plugin's, not known today": {Point: "volumes/kubernetes.io~csi/s", Type: tmpfs},
	}
	for name, mount := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, k := newVolumes(t)
			p := newPod(emptyDir("data", ""), emptyDir("fast", v1.StorageMediumMemory))
			check(t, v.Setup(t.Context(), p))
			mount.Point = filepath.Join(v.layout.PodDir(p.UID), mount.Point)
			k.table = append(k.table, mount)
			wantError(t, v.Teardown(t.Context(), p.UID), mount.Point+" ("+mount.Type+"); unmount it")
			wantError(t, v.Remove(t.Context(), p.UID), mount.Point)
			wantMode(t, v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data"), os.ModeDir|0o777)
			if len(k.table) != 2 {
				t.Errorf("something was unmounted; left: %v", k.table)
			}
		})
	}
}

func TestABusyVolumeIsWaitedForAMoment(t *testing.T) {
	t.Parallel()
	for busy, ok := range map[int]bool{0: true, busyRetries - 1: true, busyRetries: false} {
		synctest.Test(t, func(t *testing.T) {
			v, k := newVolumes(t)
			p := newPod(emptyDir("fast", v1.StorageMediumMemory))
			check(t, v.Setup(t.Context(), p))
			k.busy = busy
			err := v.Teardown(t.Context(), p.UID)
			if ok {
				check(t, err)
				return
			}
			wantError(t, err, "a process still uses it")
			wantMode(t, v.layout.VolumeDir(p.UID, EmptyDirPlugin, "fast"), os.ModeDir|0o777)
		})
	}
}
