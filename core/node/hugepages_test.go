package node

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestHugePages_areCapacity(t *testing.T) {
	t.Parallel()
	k, fs := newFake(t, mountinfoV2)
	k.put(t, pagesDir+"/hugepages-1048576kB/nr_hugepages", "0\n")
	k.put(t, pagesDir+"/hugepages-2048kB/nr_hugepages", "3\n")
	pages, sum, err := hugePages(fs.root)
	if err != nil {
		t.Fatal(err)
	}
	want := v1.ResourceList{"hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("6Mi")}
	if diff := cmp.Diff(want, pages); diff != "" || sum != 6<<20 {
		t.Errorf("%d bytes, pages (-want +got):\n%s", sum, diff)
	}
	if pages, sum, err := hugePages(t.TempDir()); err != nil || sum != 0 || len(pages) > 0 {
		t.Errorf("a kernel without huge pages: %v, %d, %v", pages, sum, err)
	}
}

func TestEnsure_limitsHugePages(t *testing.T) {
	t.Parallel()
	const podDir = "/wardlet/kubepods/burstable/podu/"
	for name, test := range map[string]struct{ mountinfo, dir, limit string }{
		"v1": {mountinfoV1 + "40 31 0:36 / /sys/fs/cgroup/hugetlb rw - cgroup none rw,hugetlb\n", "sys/fs/cgroup/hugetlb" + podDir, "limit_in_bytes"},
		"v2": {mountinfoV2, "sys/fs/cgroup" + podDir, "max"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, fs := newFake(t, test.mountinfo)
			k.put(t, pagesDir+"/hugepages-1048576kB/nr_hugepages", "1\n")
			k.put(t, pagesDir+"/hugepages-2048kB/nr_hugepages", "3\n")
			huge, large := test.dir+"hugetlb.1GB."+test.limit, test.dir+"hugetlb.2MB."+test.limit
			if name == "v1" {
				k.put(t, "sys/fs/cgroup/hugetlb/cgroup.procs", "1\n")
			}
			c, err := newCgroups(DriverCgroupfs, "/wardlet/kubepods", Bounds{}, fs, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := newPod("u", [2]string{"100m -", "- -"})
			p.Spec.Containers[0].Resources.Requests["hugepages-2Mi"] = resource.MustParse("4Mi")
			if _, err := c.Ensure(p); err != nil {
				t.Fatal(err)
			}
			if got, err := number(filepath.Join(fs.root, large)); err != nil || got != 4<<20 {
				t.Errorf("pages that the pod requests: %d, %v", got, err)
			}
			if got, err := number(filepath.Join(fs.root, huge)); err != nil || got != 0 {
				t.Errorf("pages that it does not request: %d, %v", got, err)
			}
		})
	}
}
