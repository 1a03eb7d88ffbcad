package privateruntime

import (
	"slices"
	"strings"
	"testing"
)

func TestParseMounts(t *testing.T) {
	table := `36 35 98:0 / / rw,noatime shared:1 - ext4 /dev/root rw
37 36 0:5 / /run/with\040blank rw - tmpfs none rw
38 36 0:6 / /sys/fs/cgroup/cpu rw shared:2 master:3 - cgroup none rw,cpu
half a line
`
	got, err := parseMounts(strings.NewReader(table))
	want := []mountPoint{{"/", "ext4"}, {"/run/with blank", "tmpfs"}, {"/sys/fs/cgroup/cpu", "cgroup"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestUnescape(t *testing.T) {
	for escaped, want := range map[string]string{
		`/plain`: "/plain", `/a\040b`: "/a b", `/a\134b`: `/a\b`, `/end\04`: `/end\04`, `/not\0x9`: `/not\0x9`, ``: "",
	} {
		if got := unescape(escaped); got != want {
			t.Errorf("%s: got %q, want %q", escaped, got, want)
		}
	}
}
