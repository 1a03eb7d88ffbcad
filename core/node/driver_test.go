package node

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestParent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		driver Driver
		root   string
		class  v1.PodQOSClass
		want   string
	}{
		"guaranteed pods lie in the root":  {DriverCgroupfs, "/wardlet", v1.PodQOSGuaranteed, "/wardlet/pod1-2"},
		"burstable":                        {DriverCgroupfs, "/wardlet", v1.PodQOSBurstable, "/wardlet/burstable/pod1-2"},
		"best effort":                      {DriverCgroupfs, "/a/b-c", v1.PodQOSBestEffort, "/a/b-c/besteffort/pod1-2"},
		"systemd, guaranteed":              {DriverSystemd, "/wardlet", v1.PodQOSGuaranteed, "wardlet-pod1_2.slice"},
		"systemd, best effort":             {DriverSystemd, "/wardlet", v1.PodQOSBestEffort, "wardlet-besteffort-pod1_2.slice"},
		"systemd, dashes in a deeper root": {DriverSystemd, "/a/b-c", v1.PodQOSBurstable, "a-b_c-burstable-pod1_2.slice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Parent(tt.driver, tt.root, tt.class, "1-2"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
