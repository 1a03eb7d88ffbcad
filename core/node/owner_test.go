package node

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestOwner(t *testing.T) {
	t.Parallel()
	c := named(DriverCgroupfs, "/edge/wardlet")
	for cgroup, want := range map[string]struct {
		uid   types.UID
		below string
		ok    bool
	}{
		"/edge/wardlet/pod1":                     {"1", "", true},
		"/edge/wardlet/burstable/pod1-2/c":       {"1-2", "c", true},
		"/edge/wardlet/besteffort/pod1/c/inner":  {"1", "c/inner", true},
		"/edge/wardlet":                          {},
		"/edge/wardlet/":                         {},
		"/edge/wardlet/burstable":                {},
		"/edge/wardlet/burstable/pod":            {},
		"/edge/wardlet/other/pod1/c":             {},
		"/edge/wardlet/burstable/other/pod1":     {},
		"/edge/wardletpod1":                      {},
		"/system.slice/edge/wardlet/pod1":        {},
		"/edge/wardlet2/pod1":                    {},
		"":                                       {},
		"/":                                      {},
		"/edge/wardlet/burstable/burstable/pod1": {},
	} {
		uid, below, ok := c.Owner(cgroup)
		if uid != want.uid || below != want.below || ok != want.ok {
			t.Errorf("%q: %q, %q, %v; want %+v", cgroup, uid, below, ok, want)
		}
	}
	s := named(DriverSystemd, "/edge-1")
	for cgroup, want := range map[string]string{
		"/edge_1.slice/edge_1-burstable.slice/edge_1-burstable-poda_b.slice/cri-containerd-1.scope": "a-b cri-containerd-1.scope",
		"/edge_1.slice/edge_1-podx.slice": "x ", "/edge_1.slice/edge_1-burstable.slice": "", "/edge_1.slice/other.slice/edge_1-podx.slice": "",
	} {
		uid, below, ok := s.Owner(cgroup)
		if got := string(uid) + " " + below; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v; want %q", cgroup, got, ok, want)
		}
	}
	for _, class := range []v1.PodQOSClass{v1.PodQOSGuaranteed, v1.PodQOSBurstable, v1.PodQOSBestEffort} {
		if uid, _, ok := c.Owner(Parent(DriverCgroupfs, c.naming().root, class, "7") + "/c"); uid != "7" || !ok {
			t.Errorf("class %s: %q, %v", class, uid, ok)
		}
	}
}

// named returns cgroups that only have names.
func named(driver Driver, root string) *Cgroups {
	c := &Cgroups{root: root}
	c.Use(driver)
	return c
}
