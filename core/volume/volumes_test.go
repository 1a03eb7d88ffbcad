package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
	"github.com/wardlet/wardlet/core/pod"
)

func TestMain(m *testing.M) {
	// The modes must be right whatever the umask.
	syscall.Umask(0o077)
	os.Exit(m.Run())
}

// fakeKernel remembers mounts instead of making them.
type fakeKernel struct {
	table   []mountinfo.Mount
	options []string
	// busy is the number of times that unmount fails with EBUSY.
	busy int
}

func (k *fakeKernel) mounts(dir string) ([]mountinfo.Mount, error) {
	var below []mountinfo.Mount
	for _, m := range k.table {
		if m.Point == dir || strings.HasPrefix(m.Point, dir+"/") {
			below = append(below, m)
		}
	}
	return below, nil
}

func (k *fakeKernel) mount(fsType, path string, _ uintptr, options string) error {
	k.table = append(k.table, mountinfo.Mount{Point: path, Type: fsType})
	k.options = append(k.options, options)
	return nil
}

func (k *fakeKernel) unmount(path string) error {
	if k.busy > 0 {
		k.busy--
		return syscall.EBUSY
	}
	for i, m := range slices.Backward(k.table) {
		if m.Point == path {
			k.table = slices.Delete(k.table, i, i+1)
			return nil
		}
	}
	return syscall.EINVAL
}

func (k *fakeKernel) open(dir, sub string) (*os.File, error) { return openSubPath(dir, sub) }

func (k *fakeKernel) bind(part *os.File, target string) error {
	k.table = append(k.table, mountinfo.Mount{Point: target, Type: "bind of " + part.Name()})
	return nil
}

func (k *fakeKernel) seclude(string) error { return nil }

func (k *fakeKernel) detach(path string) error { return k.unmount(path) }

func noResources() v1.ResourceList { return nil }

func always(*v1.Pod) bool { return true }

func newVolumes(t *testing.T) (*Volumes, *fakeKernel) {
	t.Helper()
	v, err := New(pod.Layout{PodRoot: filepath.Join(t.TempDir(), "root")}, 1<<30, nil, noResources, always)
	check(t, err)
	k := &fakeKernel{}
	v.kernel = k
	return v, k
}

func newPod(volumes ...v1.Volume) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "shop", UID: "uid-1",
			Annotations: map[string]string{pod.AnnotationSource: "manifests"},
		},
		Spec: v1.PodSpec{Volumes: volumes},
	}
}

func emptyDir(name string, medium v1.StorageMedium) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: medium}}}
}

func hostPath(name, path string, kind v1.HostPathType) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: path, Type: &kind}}}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want one with %q", err, part)
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	check(t, err)
	if info.Mode() != want {
		t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
	}
}

func TestNewFollowsLinksToTheRootBecauseTheKernelListsMountsWithout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	check(t, os.Symlink("real", filepath.Join(dir, "link")))
	v, err := New(pod.Layout{PodRoot: filepath.Join(dir, "link")}, 1, nil, noResources, always)
	check(t, err)
	if want := filepath.Join(dir, "real", "pods", "u"); v.layout.PodDir("u") != want {
		t.Errorf("pod directory %s, want %s", v.layout.PodDir("u"), want)
	}
}

func TestNewRefusesAnUnknownAmountOfMemory(t *testing.T) {
	t.Parallel()
	_, err := New(pod.Layout{PodRoot: t.TempDir()}, 0, nil, noResources, always)
	wantError(t, err, "0 bytes of memory")
}

func TestSetupNamesEveryVolumeItCannotMake(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod(
		v1.Volume{Name: "a", VolumeSource: v1.VolumeSource{NFS: &v1.NFSVolumeSource{}}},
		emptyDir("b", "HugePages"),
		hostPath("c", "/missing/wardlet", v1.HostPathDirectory),
		emptyDir("d", v1.StorageMediumDefault),
	)
	err := v.Setup(t.Context(), p)
	for _, name := range []string{`volume "a": only emptyDir, hostPath, configMap,`, `volume "b": emptyDir medium HugePages`, `volume "c": hostPath of type Directory`} {
		wantError(t, err, name)
	}
	wantMode(t, v.layout.VolumeDir(p.UID, EmptyDirPlugin, "d"), os.ModeDir|0o777)
}

func TestMounts(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	p := newPod(emptyDir("data", ""), hostPath("logs", "/var/log", ""), v1.Volume{Name: "odd"})
	both := v1.MountPropagationBidirectional
	readOnly, ifPossible := v1.RecursiveReadOnlyEnabled, v1.RecursiveReadOnlyIfPossible
	unable := *v
	unable.recursiveReadOnly = func(*v1.Pod) bool { return false }
	tests := map[string]struct {
		mount v1.VolumeMount
		want  pod.Mount
		err   string
		// unable is true if the runtime cannot make mounts read-only recursively.
		unable bool
	}{
		"an emptyDir is a directory of the pod": {
			mount: v1.VolumeMount{Name: "data", MountPath: "/data"},
			want:  pod.Mount{HostPath: v.layout.PodDir("uid-1") + "/volumes/kubernetes.io~empty-dir/data", ContainerPath: "/data"},
		},
		"a hostPath is itself": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", ReadOnly: true},
			want:  pod.Mount{HostPath: "/var/log", ContainerPath: "/logs", ReadOnly: true},
		},
		"a relative mount path starts at the root": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "logs"},
			want:  pod.Mount{HostPath: "/var/log", ContainerPath: "/logs"},
		},
		"an unknown volume":                    {mount: v1.VolumeMount{Name: "none"}, err: `mount "none" of container "main": the pod has no volume`},
		"an unsupported volume":                {mount: v1.VolumeMount{Name: "odd"}, err: "only emptyDir, hostPath, configMap,"},
		"a part of a volume that is not there": {mount: v1.VolumeMount{Name: "data", SubPath: "a"}, err: "no such file or directory"},
		"propagation": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", MountPropagation: &both},
			want:  pod.Mount{HostPath: "/var/log", ContainerPath: "/logs", Propagation: both},
		},
		"recursiveReadOnly": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", ReadOnly: true, RecursiveReadOnly: &readOnly},
			want:  pod.Mount{HostPath: "/var/log", ContainerPath: "/logs", ReadOnly: true, RecursiveReadOnly: true},
		},
		"recursiveReadOnly if possible": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", ReadOnly: true, RecursiveReadOnly: &ifPossible},
			want:  pod.Mount{HostPath: "/var/log", ContainerPath: "/logs", ReadOnly: true, RecursiveReadOnly: true},
		},
		"recursiveReadOnly that is not possible": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", ReadOnly: true, RecursiveReadOnly: &ifPossible}, unable: true,
			want: pod.Mount{HostPath: "/var/log", ContainerPath: "/logs", ReadOnly: true},
		},
		"recursiveReadOnly that has to be": {
			mount: v1.VolumeMount{Name: "logs", MountPath: "/logs", ReadOnly: true, RecursiveReadOnly: &readOnly}, unable: true,
			err: `mount "logs" of container "main": the runtime cannot make mounts read-only recursively; use recursiveReadOnly IfPossible`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := v
			if tt.unable {
				v = &unable
			}
			got, err := v.Mounts(p, &v1.Container{Name: "main", VolumeMounts: []v1.VolumeMount{tt.mount}}, nil)
			if tt.err != "" {
				wantError(t, err, tt.err)
				return
			}
			check(t, err)
			if diff := cmp.Diff([]pod.Mount{tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPodsListsDirectories(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	for i := range 3 {
		p := newPod()
		p.UID = types.UID(fmt.Sprint("uid-", i))
		check(t, v.Setup(t.Context(), p))
	}
	check(t, os.WriteFile(filepath.Join(v.layout.PodsDir(), "stray"), nil, 0o600))
	got, err := v.Pods()
	check(t, err)
	if diff := cmp.Diff([]types.UID{"uid-0", "uid-1", "uid-2"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAMissingPodRootIsAnErrorAndNotAnEmptyNode(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	check(t, os.Remove(v.layout.PodsDir()))
	if _, err := v.Pods(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
