package harness

import (
	"slices"
	"testing"
)

//nolint:dupword // the kernel's
const someMounts = `22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
30 22 0:26 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct
31 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
40 28 0:30 / /tmp/wardlet-demo-1/root/pods/a\040b rw - tmpfs tmpfs rw
41 28 0:31 / /tmp/wardlet-demo-1x rw - tmpfs tmpfs rw
42 28 0:32 / /tmp/wardlet-demo-1/back\134slash rw master:1 propagate_from:2 - tmpfs cgroup rw
not a line
`

func TestMountsBelow(t *testing.T) {
	t.Parallel()
	got := mountsBelow(someMounts, "/tmp/wardlet-demo-1")
	if want := []string{"/tmp/wardlet-demo-1/root/pods/a b", `/tmp/wardlet-demo-1/back\slash`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCgroupMounts(t *testing.T) {
	t.Parallel()
	got := cgroupMounts(someMounts)
	if want := []string{"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/unified"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"": "", "plain": "plain", `a\040b\011c`: "a b\tc", `\134`: `\`, `\`: `\`, `\04`: `\04`, `\999x`: `\999x`, `\777`: `\777`,
	} {
		if got := unescape(field); got != want {
			t.Errorf("unescape(%q) = %q, want %q", field, got, want)
		}
	}
}

func FuzzMountPoints(f *testing.F) {
	f.Add(someMounts)
	f.Fuzz(func(t *testing.T, table string) {
		for point, kind := range mountPoints(table) {
			if len(point)+len(kind) > len(table) {
				t.Errorf("%q of kind %q from %q", point, kind, table)
			}
		}
	})
}
