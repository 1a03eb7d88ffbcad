package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestEmptyDirIsForEveryoneToWrite(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod(emptyDir("data", ""))
	check(t, v.Setup(t.Context(), p))
	path := v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data")
	wantMode(t, path, os.ModeDir|0o777)
	wantMode(t, filepath.Dir(path), os.ModeDir|0o700) // 0750 and the umask
}

func TestEmptyDirOfAPodWithAnFSGroupBelongsToTheGroup(t *testing.T) {
	t.Parallel()
	v, k := newVolumes(t)
	p := newPod(emptyDir("data", ""), emptyDir("fast", v1.StorageMediumMemory))
	p.Spec.SecurityContext = &v1.PodSecurityContext{FSGroup: new(int64(os.Getgid()))}
	check(t, v.Setup(t.Context(), p))
	wantMode(t, v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data"), os.ModeDir|os.ModeSetgid|0o777)
	if k.options[0] != "size=1073741824,mode=3777,gid="+resource.NewQuantity(int64(os.Getgid()), resource.DecimalSI).String() {
		t.Errorf("mounted with %v", k.options)
	}
}

func TestASecondSetupLeavesWhatTheWorkloadMade(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod(emptyDir("data", ""))
	check(t, v.Setup(t.Context(), p))
	path := v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data")
	check(t, os.WriteFile(filepath.Join(path, "file"), []byte("x"), 0o600))
	check(t, os.Chmod(path, 0o700))
	check(t, v.Setup(t.Context(), p))
	wantMode(t, path, os.ModeDir|0o700)
	wantMode(t, filepath.Join(path, "file"), 0o600)
}

func TestSetupGoesOnWhereACrashLeftIt(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod(emptyDir("data", ""))
	path := v.layout.VolumeDir(p.UID, EmptyDirPlugin, "data")
	check(t, os.MkdirAll(filepath.Join(filepath.Dir(path), ".data.new"), 0o700))
	check(t, os.WriteFile(filepath.Join(v.layout.PodDir(p.UID), ownerFile+".new"), []byte("{"), 0o600))
	check(t, v.Setup(t.Context(), p))
	wantMode(t, path, os.ModeDir|0o777)
	entries, err := os.ReadDir(filepath.Dir(path))
	check(t, err)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestALinkInPlaceOfAVolumeIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"volumes", "volumes/kubernetes.io~empty-dir", "volumes/kubernetes.io~empty-dir/data"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			v, k := newVolumes(t)
			p := newPod(emptyDir("data", v1.StorageMediumMemory))
			outside := t.TempDir()
			link := filepath.Join(v.layout.PodDir(p.UID), at)
			check(t, os.MkdirAll(filepath.Dir(link), 0o700))
			check(t, os.Symlink(outside, link))
			if err := v.Setup(t.Context(), p); err == nil {
				t.Error("the link was taken for the volume")
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 || len(k.table) > 0 {
				t.Errorf("outside: %v, %v; mounts %v", entries, err, k.table)
			}
		})
	}
}

func TestAMountedTmpfsIsRecognised(t *testing.T) {
	t.Parallel()
	v, k := newVolumes(t)
	p := newPod(emptyDir("fast", v1.StorageMediumMemory))
	check(t, v.Setup(t.Context(), p))
	check(t, v.Setup(t.Context(), p))
	restarted := &Volumes{layout: v.layout, memory: v.memory, kernel: k, allocatable: noResources}
	check(t, restarted.Setup(t.Context(), p))
	if diff := cmp.Diff([]string{"size=1073741824,mode=1777"}, k.options); diff != "" {
		t.Errorf("mounts (-want +got)\n%s", diff)
	}
}

func TestSetup_mountsHugePages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		medium   v1.StorageMedium
		requests []string
		options  string
		err      string
	}{
		"of the size that the pod requests": {"HugePages", []string{"2Mi"}, "pagesize=2097152,mode=1777", ""},
		"of the size that the medium has":   {"HugePages-1Gi", []string{"2Mi", "1Gi"}, "pagesize=1073741824,mode=1777", ""},
		"of several sizes":                  {"HugePages", []string{"2Mi", "1Gi"}, "", "the pod requests huge pages of 2 sizes"},
		"that are not requested":            {"HugePages", nil, "", "the pod requests no huge pages"},
		"of a size that is not requested":   {"HugePages-1Gi", []string{"2Mi"}, "", "the pod requests no pages of this size"},
		"of no size":                        {"HugePages-x", []string{"2Mi"}, "", "the pod requests no pages of this size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, k := newVolumes(t)
			p := newPod(emptyDir("fast", test.medium))
			requests := v1.ResourceList{}
			for _, size := range test.requests {
				requests[v1.ResourceName("hugepages-"+size)] = resource.MustParse("2Gi")
			}
			p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: requests}}}
			if test.err != "" {
				wantError(t, v.Setup(t.Context(), p), test.err)
				return
			}
			check(t, v.Setup(t.Context(), p))
			check(t, v.Setup(t.Context(), p))
			if diff := cmp.Diff([]string{test.options}, k.options); diff != "" || k.table[0].Type != "hugetlbfs" {
				t.Errorf("a %s, mounts (-want +got)\n%s", k.table[0].Type, diff)
			}
		})
	}
}

func TestAMountThatIsNoTmpfsIsNotTakenForTheVolume(t *testing.T) {
	t.Parallel()
	v, k := newVolumes(t)
	p := newPod(emptyDir("fast", v1.StorageMediumMemory))
	check(t, v.Setup(t.Context(), p))
	k.table[0].Type = "ext4"
	wantError(t, v.Setup(t.Context(), p), "a ext4 is mounted at")
}

func TestMemorySize(t *testing.T) {
	t.Parallel()
	v := &Volumes{memory: 10 << 30, allocatable: func() v1.ResourceList { return v1.ResourceList{v1.ResourceMemory: resource.MustParse("8Gi")} }}
	container := func(limit string) v1.Container {
		c := v1.Container{}
		if limit != "" {
			c.Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse(limit)}
		}
		return c
	}
	tests := map[string]struct {
		limits    []string
		sizeLimit string
		want      int64
	}{
		"nothing said: what the node allocates":    {[]string{""}, "", 8 << 30},
		"sizeLimit":                                {[]string{""}, "64Mi", 64 << 20},
		"sizeLimit above what it allocates":        {[]string{""}, "64Gi", 8 << 30},
		"a sizeLimit that cannot be counted":       {[]string{""}, "17Ei", 8 << 30},
		"limits that cannot be counted":            {[]string{"9Ei", "9Ei"}, "", 8 << 30},
		"a sizeLimit of zero counts as none":       {[]string{""}, "0", 8 << 30},
		"the pod's limit":                          {[]string{"1Gi", "1Gi"}, "", 2 << 30},
		"the smaller of both":                      {[]string{"1Gi"}, "2Gi", 1 << 30},
		"a container without a limit: the pod has": {[]string{"1Gi", ""}, "", 8 << 30},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod()
			for _, limit := range tt.limits {
				p.Spec.Containers = append(p.Spec.Containers, container(limit))
			}
			source := &v1.EmptyDirVolumeSource{}
			if tt.sizeLimit != "" {
				source.SizeLimit = new(resource.MustParse(tt.sizeLimit))
			}
			if got := v.memorySize(p, source); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
