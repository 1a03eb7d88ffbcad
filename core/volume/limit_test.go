package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestOver(t *testing.T) {
	t.Parallel()
	limited := func(name, limit string) v1.Volume {
		v := emptyDir(name, "")
		v.EmptyDir.SizeLimit = new(resource.MustParse(limit))
		return v
	}
	for name, tc := range map[string]struct {
		volume v1.Volume
		// put makes what is in the volume.
		put  func(dir string) error
		want string
	}{
		"empty":      {limited("data", "64Ki"), func(string) error { return nil }, ""},
		"within":     {limited("data", "1Mi"), func(dir string) error { return fill(dir+"/a", 512<<10) }, ""},
		"beyond":     {limited("data", "1Mi"), func(dir string) error { return errors.Join(fill(dir+"/a/b", 600<<10), fill(dir+"/c", 600<<10)) }, "data 1Mi"},
		"no limit":   {emptyDir("data", ""), func(dir string) error { return fill(dir+"/a", 1<<20) }, ""},
		"limit of 0": {limited("data", "0"), func(dir string) error { return fill(dir+"/a", 1<<20) }, ""},
		"sparse":     {limited("data", "64Ki"), func(dir string) error { return errors.Join(fill(dir+"/a", 0), os.Truncate(dir+"/a", 1<<30)) }, ""},
		"several names": {limited("data", "1Mi"), func(dir string) error {
			return errors.Join(fill(dir+"/a", 600<<10), os.Link(dir+"/a", dir+"/b"), os.Link(dir+"/a", dir+"/c"))
		}, ""},
		"a link that leads out": {limited("data", "64Ki"), func(dir string) error { return os.Symlink("/usr", dir+"/a") }, ""},
		"paths too long for the kernel": {limited("data", "1Mi"), func(dir string) error {
			root, err := os.OpenRoot(dir)
			for i := 0; i < 40 && err == nil; i++ {
				name := "!" + strings.Repeat("x", 250)
				if err = root.Mkdir(name, 0o755); err == nil {
					root, err = root.OpenRoot(name)
				}
			}
			return errors.Join(err, root.WriteFile("f", make([]byte, 2<<20), 0o600))
		}, "data 1Mi"},
		"directories deep in each other": {limited("data", "10Mi"), func(dir string) error {
			root, err := os.OpenRoot(dir)
			for i := 0; i < maxDepth+1 && err == nil; i++ {
				if err = root.Mkdir("d", 0o755); err == nil {
					root, err = root.OpenRoot("d")
				}
			}
			return err
		}, "data 10Mi too deep"},
		"many files, within": {limited("data", "64Mi"), func(dir string) (err error) {
			for i := 0; i < 3*entriesAtOnce && err == nil; i++ {
				err = os.WriteFile(fmt.Sprint(dir, "/", i), nil, 0o600)
			}
			return err
		}, ""},
		"is not there": {limited("other", "64Ki"), func(string) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			p := newPod(tc.volume)
			dir := v.layout.VolumeDir(p.UID, emptyDirPlugin, "data")
			check(t, os.MkdirAll(dir, 0o755))
			check(t, tc.put(dir))
			over, err := v.Over(t.Context(), p)
			check(t, err)
			got := ""
			if over != nil {
				got = over.Volume + " " + over.Limit.String()
				if over.Deep {
					got += " too deep"
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOver_endsWithItsContext(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	volume := emptyDir("data", "")
	volume.EmptyDir.SizeLimit = new(resource.MustParse("64Ki"))
	p := newPod(volume)
	check(t, fill(v.layout.VolumeDir(p.UID, emptyDirPlugin, "data")+"/a", 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if over, err := v.Over(ctx, p); over != nil || err == nil {
		t.Errorf("got %v, %v", over, err)
	}
}

// fill writes a file of a size, and the directory it is in.
func fill(path string, size int) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
}
