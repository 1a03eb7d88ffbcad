package volume

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// parted returns a pod whose container mounts a part of an emptyDir, and the directory of that
// volume.
func parted(t *testing.T, v *Volumes, sub string) (p *v1.Pod, volume string) {
	t.Helper()
	p = newPod(emptyDir("data", v1.StorageMediumDefault))
	p.Spec.Containers = []v1.Container{{Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "data", MountPath: "/d", SubPath: sub}}}}
	check(t, v.Setup(t.Context(), p))
	return p, v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data")
}

func TestSubPath(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	check(t, os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600))
	for name, test := range map[string]struct {
		sub  string
		make func(volume string) error
		err  string
		file bool
	}{
		"a new directory": {sub: "a/b"},
		"a directory":     {sub: "a", make: func(v string) error { return os.Mkdir(filepath.Join(v, "a"), 0o700) }},
		"a file":          {sub: "f", make: func(v string) error { return os.WriteFile(filepath.Join(v, "f"), nil, 0o600) }, file: true},
		"a link within the volume": {sub: "l/x", make: func(v string) error {
			return errors.Join(os.MkdirAll(filepath.Join(v, "a/x"), 0o700), os.Symlink("a", filepath.Join(v, "l")))
		}},
		"a link out of it":             {sub: "l/secret", make: func(v string) error { return os.Symlink(outside, filepath.Join(v, "l")) }, err: "a link leads out of the volume"},
		"a link out of it, to be made": {sub: "l/new", make: func(v string) error { return os.Symlink(outside, filepath.Join(v, "l")) }, err: "leads out of the volume"},
		"a relative link out of it":    {sub: "l", make: func(v string) error { return os.Symlink("../../..", filepath.Join(v, "l")) }, err: "a link leads out of the volume"},
		"the last part is a link out": {sub: "a/l", make: func(v string) error {
			return errors.Join(os.Mkdir(filepath.Join(v, "a"), 0o700), os.Symlink("/etc", filepath.Join(v, "a/l")))
		}, err: "a link leads out of the volume"},
		"a dangling link out of it":       {sub: "l/x", make: func(v string) error { return os.Symlink(filepath.Join(outside, "none"), filepath.Join(v, "l")) }, err: "l"},
		"a file on the way":               {sub: "f/x", make: func(v string) error { return os.WriteFile(filepath.Join(v, "f"), nil, 0o600) }, err: "not a directory"},
		"an absolute path":                {sub: "/etc", err: "must not be absolute"},
		"a path that leads up":            {sub: "a/../../x", err: "must not contain '..'"},
		"a link of /proc":                 {sub: "l", make: func(v string) error { return os.Symlink("/proc/self/root", filepath.Join(v, "l")) }, err: "a link leads out of the volume"},
		"names that only look like links": {sub: "..a/b..", make: func(v string) error { return os.MkdirAll(filepath.Join(v, "..a/b.."), 0o700) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, k := newVolumes(t)
			p, volume := parted(t, v, test.sub)
			if test.make != nil {
				check(t, test.make(volume))
			}
			mounts, err := v.Mounts(p, &p.Spec.Containers[0], nil)
			if test.err != "" {
				wantError(t, err, test.err)
				if entries, _ := os.ReadDir(outside); len(entries) != 1 {
					t.Errorf("outside of the volume there is %v", entries)
				}
				return
			}
			check(t, err)
			target := filepath.Join(v.layout.SubPathsDir(p.UID), "data", "main", "0")
			if mounts[0].HostPath != target {
				t.Errorf("mounts %v, want %s", mounts, target)
			}
			info, err := os.Stat(target)
			check(t, err)
			if info.IsDir() == test.file {
				t.Errorf("the target is %v", info.Mode())
			}
			if len(k.table) != 1 || k.table[0].Type != "bind of "+filepath.Join(volume, test.sub) {
				t.Errorf("mounted %v", k.table)
			}
			check(t, v.Teardown(t.Context(), p.UID))
			if _, err := os.Stat(v.layout.SubPathsDir(p.UID)); !errors.Is(err, os.ErrNotExist) || len(k.table) > 0 {
				t.Errorf("after the teardown: %v, mounted %v", err, k.table)
			}
		})
	}
}

func TestSubPath_hasTheModeOfTheVolume(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p, volume := parted(t, v, "a/b")
	check(t, os.Chmod(volume, 0o770|os.ModeSetgid|os.ModeSticky))
	_, err := v.Mounts(p, &p.Spec.Containers[0], nil)
	check(t, err)
	wantMode(t, filepath.Join(volume, "a"), os.ModeDir|os.ModeSetgid|os.ModeSticky|0o770)
	wantMode(t, filepath.Join(volume, "a/b"), os.ModeDir|os.ModeSetgid|os.ModeSticky|0o770)
}

func TestSubPath_isExpanded(t *testing.T) {
	t.Parallel()
	v, k := newVolumes(t)
	p, volume := parted(t, v, "")
	p.Spec.Containers[0].VolumeMounts[0].SubPathExpr = "$(NAME)"
	expand := func(path string) (string, error) { return strings.ReplaceAll(path, "$(NAME)", "web"), nil }
	_, err := v.Mounts(p, &p.Spec.Containers[0], expand)
	check(t, err)
	if len(k.table) != 1 || k.table[0].Type != "bind of "+filepath.Join(volume, "web") {
		t.Errorf("mounted %v", k.table)
	}
	_, err = v.Mounts(p, &p.Spec.Containers[0], func(string) (string, error) { return "", errors.New("missing value for NAME") })
	wantError(t, err, "missing value for NAME")
	_, err = v.Mounts(p, &p.Spec.Containers[0], func(string) (string, error) { return "../x", nil })
	wantError(t, err, "must not contain '..'")
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p, volume := parted(t, v, "")
	check(t, os.MkdirAll(filepath.Join(volume, "dir"), 0o700))
	check(t, os.WriteFile(filepath.Join(volume, "dir", "env"), []byte("A='1'"), 0o600))
	check(t, os.Symlink("dir/env", filepath.Join(volume, "link")))
	check(t, os.Symlink("/etc/passwd", filepath.Join(volume, "out")))
	check(t, unix.Mkfifo(filepath.Join(volume, "fifo"), 0o600))
	check(t, os.WriteFile(filepath.Join(volume, "long"), make([]byte, maxRead+1), 0o600))
	for path, want := range map[string]string{"dir/env": "A='1'", "/dir/env": "A='1'", "link": "A='1'"} {
		if got, err := v.ReadFile(p, "data", path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"out": "a link leads out of the volume", "fifo": "no regular file", "dir": "no regular file", "long": "longer than 1048576 bytes",
		"../x": "must not contain '..'", "none": "no such file or directory",
	} {
		_, err := v.ReadFile(p, "data", path)
		wantError(t, err, want)
	}
}

var hostileTime = flag.Duration("hostile", time.Second, "for how long a workload changes its volume under the agent's hands")

// TestSubPath_hostileWorkload: whatever a workload does to the parts of its volume, and whenever it
// does so, a path that is opened lies in the volume and nothing is created outside.
func TestSubPath_hostileWorkload(t *testing.T) {
	t.Parallel()
	besideHostileWorkload(t, func(r *rand.Rand, volume string, root *os.Root) error {
		sub := somePath(r)
		_ = makeSubPath(root, sub)
		part, err := openSubPath(volume, sub)
		if err != nil {
			return err
		}
		defer part.Close()
		at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", part.Fd()))
		if err != nil || at != volume && !strings.HasPrefix(at, volume+"/") {
			t.Errorf("%s leads to %s, %v", sub, at, err)
		}
		return nil
	})
}

// TestWriteFiles_hostileWorkload: files of a volume to which a workload can write, because it has
// mounted it anew, are written in the volume, and nothing outside is changed.
func TestWriteFiles_hostileWorkload(t *testing.T) {
	t.Parallel()
	besideHostileWorkload(t, func(r *rand.Rand, _ string, root *os.Root) error {
		files := map[string]content{}
		for range 1 + r.IntN(3) {
			files[somePath(r)] = content{data: []byte(somePath(r)), mode: 0o644, user: -1, group: -1}
		}
		return writeFiles(root, files, testNow())
	})
}

// besideHostileWorkload calls act again and again while a workload changes its volume. Sometimes act
// must succeed, sometimes fail, and nothing outside the volume may change.
func besideHostileWorkload(t *testing.T, act func(r *rand.Rand, volume string, root *os.Root) error) {
	t.Helper()
	dir := t.TempDir()
	volume, outside := filepath.Join(dir, "volume"), filepath.Join(dir, "outside")
	check(t, os.Mkdir(volume, 0o755))
	check(t, os.Mkdir(outside, 0o755))
	check(t, os.WriteFile(filepath.Join(outside, "a"), []byte("secret"), 0o600))

	root, err := os.OpenRoot(volume)
	check(t, err)
	defer root.Close()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	stop := make(chan struct{})
	var workload sync.WaitGroup
	workload.Go(func() {
		r := rand.New(rand.NewPCG(seed, 0))
		for {
			select {
			case <-stop:
				return
			default:
				disturb(r, root, outside)
			}
		}
	})
	r := rand.New(rand.NewPCG(seed, 1))
	succeeded, refused := 0, 0
	for began := time.Now(); time.Since(began) < *hostileTime || (succeeded == 0 || refused == 0) && time.Since(began) < time.Minute; {
		if act(r, volume, root) == nil {
			succeeded++
		} else {
			refused++
		}
	}
	close(stop)
	workload.Wait()
	t.Logf("%d succeeded, %d refused", succeeded, refused)
	if succeeded == 0 || refused == 0 {
		t.Error("nothing succeeded, or nothing was refused")
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(outside, "a")); err != nil || string(data) != "secret" {
		t.Errorf("the file outside has %q, %v", data, err)
	}
}

// names are the names of the parts of a volume.
var names = []string{"a", "b", "c", dataLink}

func somePath(r *rand.Rand) string {
	path := make([]string, 1+r.IntN(3))
	for i := range path {
		path[i] = names[r.IntN(len(names))]
	}
	return strings.Join(path, "/")
}

// disturb makes one of the changes that a workload may make in its volume. A link out of it leads
// nowhere for the workload, whose root is another one.
func disturb(r *rand.Rand, volume *os.Root, outside string) {
	at := somePath(r)
	switch r.IntN(6) {
	case 0:
		_ = volume.Mkdir(at, 0o755)
	case 1:
		_ = volume.WriteFile(at, []byte("x"), 0o600)
	case 2, 3:
		targets := []string{"../outside", "../../outside", "../../../outside", "/", "..", "b/../..", "/proc/self/root", "/proc/self/cwd", outside, "a", "b"}
		fresh := at + ".new"
		if volume.Symlink(targets[r.IntN(len(targets))], fresh) == nil {
			_ = volume.Rename(fresh, at)
			_ = volume.Remove(fresh)
		}
	case 4:
		_ = volume.Rename(at, names[r.IntN(len(names))])
	default:
		if errors.Is(volume.Remove(at), unix.ENOTDIR) || r.IntN(8) == 0 {
			_ = volume.RemoveAll(names[r.IntN(len(names))])
		}
	}
}
