package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	line := func(point, kind, options string) string {
		return "1 0 0:1 / " + point + " rw - " + kind + " x rw," + options + "\n"
	}
	tests := map[string]struct {
		mountinfo string
		v2        bool
		points    string
		err       string
	}{
		"v2 alone": {mountinfo: mountinfoV2, v2: true, points: "/sys/fs/cgroup"},
		"hybrid: v1 controls, pods are looked for in v2 too": {
			mountinfo: mountinfoV1,
			points: "/sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpuset /sys/fs/cgroup/memory " +
				"/sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup/unified",
		},
		"v2 where v1 has only names": {
			mountinfo: mountinfoV2 + line("/sys/fs/cgroup/systemd", "cgroup", "name=systemd"),
			v2:        true, points: "/sys/fs/cgroup",
		},
		"nothing mounted":   {mountinfo: line("/", "ext4", ""), err: "mount one at /sys/fs/cgroup"},
		"v1 without memory": {mountinfo: line("/c", "cgroup", "cpu"), err: "cgroup_enable=memory"},
		"v1 without cpu":    {mountinfo: line("/m", "cgroup", "memory"), err: "no cgroup controller for cpu"},
		"no list of mounts": {mountinfo: "nonsense", err: "is no mount"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, fs := newFake(t, mountinfoV2)
			k.put(t, "proc/self/mountinfo", tt.mountinfo)
			c, err := newCgroups(DriverCgroupfs, "/wardlet", Bounds{}, fs, nil)
			if tt.err != "" {
				wantError(t, err, tt.err)
				return
			}
			check(t, err)
			if c.V2() != tt.v2 {
				t.Errorf("v2 %v", c.V2())
			}
			points := strings.ReplaceAll(strings.Join(c.hierarchy().points(), " "), k.root, "")
			if diff := cmp.Diff(tt.points, points); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestV2NeedsItsControllers(t *testing.T) {
	t.Parallel()
	k, fs := newFake(t, mountinfoV2)
	k.put(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n")
	_, err := newCgroups(DriverCgroupfs, "/wardlet", Bounds{}, fs, nil)
	wantError(t, err, "cgroup_enable=memory")
}

func TestNewRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	_, fs := newFake(t, mountinfoV2)
	tests := map[string]struct {
		driver Driver
		root   string
		err    string
	}{
		"an odd driver":    {"odd", "/wardlet", `"odd" is not known`},
		"the root cgroup":  {DriverCgroupfs, "/", "not a clean absolute path"},
		"a relative root":  {DriverCgroupfs, "wardlet", "not a clean absolute path"},
		"a root with dots": {DriverCgroupfs, "/a/../b", "not a clean absolute path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newCgroups(tt.driver, tt.root, Bounds{}, fs, nil)
			wantError(t, err, tt.err)
		})
	}
}
