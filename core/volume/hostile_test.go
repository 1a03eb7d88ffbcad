package volume

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var hostileTime = flag.Duration("hostile", time.Second, "for how long a workload changes its volume under the agent's hands")

// TestSubPath_hostileWorkload: whatever a workload puts in the place of the parts of its volume, at whatever moment, what is
// opened lies in the volume, and nothing is made outside.
func TestSubPath_hostileWorkload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	volume, outside := filepath.Join(dir, "volume"), filepath.Join(dir, "outside")
	check(t, os.Mkdir(volume, 0o755))
	check(t, os.Mkdir(outside, 0o755))
	check(t, os.WriteFile(filepath.Join(outside, "a"), []byte("secret"), 0o600))

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
				disturb(r, volume)
			}
		}
	})
	root, err := os.OpenRoot(volume)
	check(t, err)
	defer root.Close()
	r := rand.New(rand.NewPCG(seed, 1))
	opened, refused := 0, 0
	for began := time.Now(); time.Since(began) < *hostileTime; {
		sub := somePath(r)
		_ = makeSubPath(root, sub)
		part, err := openSubPath(volume, sub)
		if err != nil {
			refused++
			continue
		}
		opened++
		at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", part.Fd()))
		if err != nil || at != volume && !strings.HasPrefix(at, volume+"/") {
			t.Errorf("%s leads to %s, %v", sub, at, err)
		}
		part.Close()
	}
	close(stop)
	workload.Wait()
	t.Logf("%d opened, %d refused", opened, refused)
	if opened == 0 || refused == 0 {
		t.Error("nothing was opened, or nothing refused")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}

// names are those of the parts of a volume.
var names = []string{"a", "b", "c"}

func somePath(r *rand.Rand) string {
	path := make([]string, 1+r.IntN(3))
	for i := range path {
		path[i] = names[r.IntN(len(names))]
	}
	return strings.Join(path, "/")
}

// disturb does one of the things that a workload may do in its volume.
func disturb(r *rand.Rand, volume string) {
	at := filepath.Join(volume, somePath(r))
	if in, err := filepath.EvalSymlinks(filepath.Dir(at)); err != nil || in != volume && !strings.HasPrefix(in, volume+"/") {
		_ = os.RemoveAll(filepath.Join(volume, names[r.IntN(len(names))])) // in a container the link would lead elsewhere
		return
	}
	switch r.IntN(6) {
	case 0:
		_ = os.Mkdir(at, 0o755)
	case 1:
		_ = os.WriteFile(at, []byte("x"), 0o600)
	case 2, 3:
		targets := []string{"../outside", "../../outside", "../../../outside", "/", "..", "b/../..", "/proc/self/root", "/proc/self/cwd", filepath.Dir(volume) + "/outside", "a", "b"}
		fresh := at + ".new"
		if os.Symlink(targets[r.IntN(len(targets))], fresh) == nil {
			_ = os.Rename(fresh, at)
			_ = os.Remove(fresh)
		}
	case 4:
		_ = os.Rename(at, filepath.Join(volume, names[r.IntN(len(names))]))
	default:
		_ = os.Remove(at)
	}
}

// FuzzWriteFiles has files of any path written beside a link that leads out of the volume.
func FuzzWriteFiles(f *testing.F) {
	for _, seed := range [][3]string{{"a", "b", "c"}, {"a", "a/b", "a"}, {"d/a", "d/b", "d"}, {"..data/a", "..2026", "..data"}, {"../a", "/a", "."}, {"a/../../b", "", "a"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, one, other, link string) {
		at := t.TempDir()
		volume, outside := filepath.Join(at, "volume"), filepath.Join(at, "outside")
		check(t, os.Mkdir(volume, 0o755))
		check(t, os.Mkdir(outside, 0o755))
		dir, err := os.OpenRoot(volume)
		check(t, err)
		defer dir.Close()
		_ = dir.Symlink("../outside", link)
		files := map[string]content{}
		for _, path := range []string{one, other} {
			files[path] = content{data: []byte(path), mode: 0o644, user: -1, group: -1}
		}
		for range 2 { // also where the files are there already
			if writeFiles(dir, files, testNow()) != nil {
				continue
			}
			for path, c := range files {
				if data, err := dir.ReadFile(filepath.Join(dataLink, path)); err != nil || string(data) != string(c.data) {
					t.Errorf("%q says %q, %v", path, data, err)
				}
			}
		}
		err = filepath.WalkDir(at, func(path string, e fs.DirEntry, err error) error {
			if !e.IsDir() && path != at && !strings.HasPrefix(path, volume+"/") {
				t.Errorf("there is %s", path)
			}
			return err
		})
		check(t, err)
	})
}
