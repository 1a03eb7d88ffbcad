package privateruntime

import (
	"slices"
	"testing"
)

func TestParentsToRemove(t *testing.T) {
	roots := []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuset"}
	for _, c := range []struct {
		name, leaf string
		before     []string
		want       []string
	}{
		{"containerd's default", "/sys/fs/cgroup/cpu/k8s.io/id", nil, []string{"/sys/fs/cgroup/cpu/k8s.io"}},
		{
			"a pod's parent", "/sys/fs/cgroup/cpuset/wardlet/burstable/pod1/id", nil,
			[]string{"/sys/fs/cgroup/cpuset/wardlet/burstable/pod1", "/sys/fs/cgroup/cpuset/wardlet/burstable", "/sys/fs/cgroup/cpuset/wardlet"},
		},
		{"there before", "/sys/fs/cgroup/cpu/kubepods/pod1/id", []string{"/sys/fs/cgroup/cpu/kubepods"}, nil},
		{"there before in another hierarchy", "/sys/fs/cgroup/cpu/k8s.io/id", []string{"/sys/fs/cgroup/cpuset/k8s.io"}, []string{"/sys/fs/cgroup/cpu/k8s.io"}},
		{"directly below the root", "/sys/fs/cgroup/cpu/id", nil, nil},
		{"in no hierarchy", "/home/k8s.io/id", nil, nil},
	} {
		if got := parentsToRemove(c.leaf, roots, c.before); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
