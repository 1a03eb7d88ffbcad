package mountinfo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line string
		want mountinfo.Mount
	}{
		"plain": {
			"36 35 98:0 / /data rw,noatime - ext4 /dev/vda rw,discard",
			mountinfo.Mount{Point: "/data", Type: "ext4", Options: []string{"rw", "discard"}},
		},
		"optional fields are skipped": {
			"36 35 98:0 /sub /data rw shared:1 master:2 - ext4 /dev/vda rw",
			mountinfo.Mount{Point: "/data", Type: "ext4", Options: []string{"rw"}},
		},
		"a cgroup hierarchy names its controllers": {
			"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct",
			mountinfo.Mount{Point: "/sys/fs/cgroup/cpu,cpuacct", Type: "cgroup", Options: []string{"rw", "cpu", "cpuacct"}},
		},
		"escaped characters": {
			`36 35 98:0 / /a\040b\134c rw - tmpfs none rw`,
			mountinfo.Mount{Point: `/a b\c`, Type: "tmpfs", Options: []string{"rw"}},
		},
		"an empty source": {
			"36 35 98:0 / /data rw - tmpfs  rw,size=4k",
			mountinfo.Mount{Point: "/data", Type: "tmpfs", Options: []string{"rw", "size=4k"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := mountinfo.Parse(tt.line + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]mountinfo.Mount{tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestReadNamesTheFileAndTheLineThatIsNoMount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mountinfo")
	if err := os.WriteFile(path, []byte("36 35 98:0 / / rw - ext4 /dev/vda rw\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := mountinfo.Read(path)
	if want := path + `: line 2 is no mount: "nonsense\n"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadThisProcess(t *testing.T) {
	t.Parallel()
	mounts, err := mountinfo.Read("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if m.Point == "/" {
			return
		}
	}
	t.Error("no mount at /")
}

func FuzzParse(f *testing.F) {
	f.Add("36 35 98:0 / /a\\040b rw - tmpfs  rw,size=4k\n")
	f.Add("36 35 98:0 / \\ rw - tmpfs\n")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := mountinfo.Parse(text)
		if err != nil && mounts != nil {
			t.Error("an error with mounts")
		}
	})
}
