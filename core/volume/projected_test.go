package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wardlet/wardlet/core/pod"
)

// server has the objects of a test.
type server struct {
	maps    map[string]*v1.ConfigMap
	secrets map[string]*v1.Secret
	token   string
}

func (s *server) Secret(_ context.Context, _ *v1.Pod, name string) (*v1.Secret, error) {
	if m := s.secrets[name]; m != nil {
		return m, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

func (s *server) ConfigMap(_ context.Context, _ *v1.Pod, name string) (*v1.ConfigMap, error) {
	if m := s.maps[name]; m != nil {
		return m, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
}

func (s *server) Token(context.Context, *v1.Pod, *v1.ServiceAccountTokenProjection) (string, error) {
	if s.token == "" {
		return "", errors.New("no token")
	}
	return s.token, nil
}

func accessVolume() v1.Volume {
	return v1.Volume{Name: "access", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
		{ServiceAccountToken: &v1.ServiceAccountTokenProjection{Path: "token"}},
		{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: v1.LocalObjectReference{Name: "root-ca"}, Items: []v1.KeyToPath{{Key: "ca.crt", Path: "certs/ca.crt"}}}},
		{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: v1.LocalObjectReference{Name: "none"}, Optional: new(true)}},
		{DownwardAPI: &v1.DownwardAPIProjection{Items: []v1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.namespace"}, Mode: new(int32(0o400))},
			{Path: "labels", FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
		}}},
	}}}}
}

func TestProjectedFiles(t *testing.T) {
	t.Parallel()
	s := &server{token: "t1", maps: map[string]*v1.ConfigMap{"root-ca": {Data: map[string]string{"ca.crt": "CA", "other": "x"}}}}
	v := &Volumes{objects: s}
	p := &v1.Pod{}
	p.Namespace, p.Labels = "shop", map[string]string{"b": "2", "a": "1\n"}
	p.Spec.Containers = []v1.Container{{}, {}}
	source := accessVolume().Projected
	show := func() map[string]string {
		t.Helper()
		files, err := v.files(t.Context(), p, source)
		if err != nil {
			t.Fatal(err)
		}
		shown := map[string]string{}
		for path, c := range files {
			shown[path] = c.mode.String() + " " + string(c.data)
			if c.user >= 0 {
				shown[path] += " of a user"
			}
		}
		return shown
	}
	want := map[string]string{
		"token": "-rw-r--r-- t1", "certs/ca.crt": "-rw-r--r-- CA", "namespace": "-r-------- shop", "labels": "-rw-r--r-- a=\"1\\n\"\nb=\"2\"",
	}
	if diff := cmp.Diff(want, show()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	p.Spec.SecurityContext = &v1.PodSecurityContext{RunAsUser: new(int64(7))}
	if got := show()["token"]; got != "-rw------- t1 of a user" {
		t.Errorf("the token of a pod of one user: %s", got)
	}
	p.Spec.SecurityContext = &v1.PodSecurityContext{FSGroup: new(int64(8))}
	if got := show()["token"] + ", " + show()["namespace"]; got != "-rw-r----- t1, -r--r----- shop" {
		t.Errorf("files of a group: %s", got)
	}

	source.Sources[1].ConfigMap.Items[0].Key = "missing"
	if _, err := v.files(t.Context(), p, source); err == nil || !strings.Contains(err.Error(), `source 1: ConfigMap root-ca has no key "missing"`) {
		t.Errorf("a missing key: %v", err)
	}
	s.token = ""
	if _, err := v.files(t.Context(), p, source); err == nil || !strings.Contains(err.Error(), "source 0: no token") {
		t.Errorf("no token: %v", err)
	}
}

var seconds atomic.Int64

// testNow returns a later time at each call.
func testNow() time.Time { return time.Unix(1e9+seconds.Add(1), 0) }

func TestWriteFiles(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	dir, err := os.OpenRoot(at)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	write := func(files map[string]string) string {
		t.Helper()
		all := map[string]content{}
		for path, text := range files {
			all[path] = content{data: []byte(text), mode: 0o640, user: -1, group: -1}
		}
		if err := writeFiles(dir, all, testNow()); err != nil {
			t.Fatal(err)
		}
		link, err := os.Readlink(filepath.Join(at, dataLink))
		if err != nil {
			t.Fatal(err)
		}
		return link
	}
	show := func() map[string]string {
		t.Helper()
		shown := map[string]string{}
		entries, err := os.ReadDir(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "..") {
				continue
			}
			err := filepath.WalkDir(filepath.Join(at, e.Name())+"/.", func(path string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				rel, _ := filepath.Rel(at, path)
				text, err := os.ReadFile(path)
				shown[rel] = string(text)
				return err
			})
			if err != nil {
				text, err := os.ReadFile(filepath.Join(at, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				shown[e.Name()] = string(text)
			}
		}
		return shown
	}
	first := map[string]string{"a": "1", "d/b": "2"}
	one := write(first)
	if diff := cmp.Diff(first, show()); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if again := write(first); again != one {
		t.Errorf("the same files are written again: %s, before %s", again, one)
	}
	second := map[string]string{"a": "3", "c": "4"}
	for _, left := range []string{"..2020_01_01_00_00_00.000000000", "..data_tmp"} { // left by an agent that was killed
		if err := os.Mkdir(filepath.Join(at, left), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if two := write(second); two == one {
		t.Error("other files are in the same directory")
	}
	if diff := cmp.Diff(second, show()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	entries, _ := os.ReadDir(at)
	if len(entries) != 4 { // ..data, its target, and two links
		t.Errorf("%d entries: %v", len(entries), entries)
	}
}

func TestSetup_volumesOfFiles(t *testing.T) {
	t.Parallel()
	items := []v1.KeyToPath{{Key: "a", Path: "deep/er/a", Mode: new(int32(0o400))}}
	named := v1.LocalObjectReference{Name: "x"}
	gone := v1.LocalObjectReference{Name: "gone"}
	limit := &v1.ResourceFieldSelector{ContainerName: "main", Resource: "limits.cpu", Divisor: resource.MustParse("1m")}
	for name, test := range map[string]struct {
		source   v1.VolumeSource
		dir      string
		inMemory bool
		want     map[string]string
		err      string
	}{
		"configMap": {
			v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: named}},
			"kubernetes.io~configmap", false,
			map[string]string{"a": "-rw-r--r-- A", "b": "-rw-r--r-- B"},
			"",
		},
		"configMap, items": {
			v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: named, Items: items, DefaultMode: new(int32(0o600))}},
			"kubernetes.io~configmap", false,
			map[string]string{"deep/er/a": "-r-------- A"},
			"",
		},
		"configMap that is missing": {v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: gone}}, "", false, nil, `configmaps "gone" not found`},
		"configMap that may be missing": {
			v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: gone, Optional: new(true)}},
			"kubernetes.io~configmap", false,
			map[string]string{},
			"",
		},
		"secret": {
			v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "s", DefaultMode: new(int32(0o440))}},
			"kubernetes.io~secret", true,
			map[string]string{"a": "-r--r----- SA"},
			"",
		},
		"secret, a key is missing": {
			v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "s", Items: []v1.KeyToPath{{Key: "none", Path: "p"}}}}, "", false, nil, `Secret s has no key "none"`,
		},
		"secret, a key may be missing": {
			v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "s", Items: []v1.KeyToPath{{Key: "none", Path: "p"}}, Optional: new(true)}},
			"kubernetes.io~secret", true,
			map[string]string{},
			"",
		},
		"downwardAPI": {
			v1.VolumeSource{DownwardAPI: &v1.DownwardAPIVolumeSource{Items: []v1.DownwardAPIVolumeFile{
				{Path: "name", FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.name"}}, {Path: "cpu", ResourceFieldRef: limit},
			}}},
			"kubernetes.io~downward-api", true,
			map[string]string{"name": "-rw-r--r-- web", "cpu": "-rw-r--r-- 4000"},
			"",
		},
		"projected secret": {
			v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{{Secret: &v1.SecretProjection{LocalObjectReference: v1.LocalObjectReference{Name: "s"}}}}}},
			"kubernetes.io~projected", true,
			map[string]string{"a": "-rw-r--r-- SA"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, k := newVolumes(t)
			v.allocatable = func() v1.ResourceList { return v1.ResourceList{v1.ResourceCPU: resource.MustParse("4")} }
			v.objects = &server{
				maps:    map[string]*v1.ConfigMap{"x": {Data: map[string]string{"a": "A"}, BinaryData: map[string][]byte{"b": []byte("B")}}},
				secrets: map[string]*v1.Secret{"s": {Data: map[string][]byte{"a": []byte("SA")}}},
			}
			p := newPod(v1.Volume{Name: "files", VolumeSource: test.source})
			p.Name, p.Spec.Containers = "web", []v1.Container{{Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "files", MountPath: "/f"}}}}
			err := v.Setup(t.Context(), p)
			if test.err != "" {
				wantError(t, err, test.err)
				return
			}
			check(t, err)
			dir := filepath.Join(v.layout.VolumesDir(p.UID), test.dir, "files")
			if mounts, _ := k.mounts(dir); (len(mounts) == 1) != test.inMemory {
				t.Errorf("mounts %v", mounts)
			}
			got := map[string]string{}
			check(t, filepath.WalkDir(filepath.Join(dir, dataLink)+"/.", func(path string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				rel, _ := filepath.Rel(filepath.Join(dir, dataLink), path)
				text, err := os.ReadFile(filepath.Join(dir, rel)) // as the workload reads it
				info, _ := e.Info()
				got[rel] = info.Mode().String() + " " + string(text)
				return err
			}))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			mounts, err := v.Mounts(p, &p.Spec.Containers[0], nil)
			check(t, err)
			if diff := cmp.Diff([]pod.Mount{{HostPath: dir, ContainerPath: "/f", ReadOnly: true}}, mounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			check(t, v.Remove(t.Context(), p.UID))
		})
	}
}

func TestWriteFiles_badInput(t *testing.T) {
	t.Parallel()
	file := func(text string) content { return content{data: []byte(text), mode: 0o644, user: -1, group: -1} }
	many := map[string]content{}
	for i := range 10_000 {
		many[fmt.Sprintf("key-%d", i)] = file("x")
	}
	for name, tc := range map[string]struct {
		files map[string]content
		err   string
	}{
		"path below a file": {map[string]content{"a": file("1"), "a/b": file("2"), "c": file("3")}, "a"},
		"path that is long": {map[string]content{strings.Repeat("x", 300): file("1")}, "file name too long"},
		"ten thousand keys": {many, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := t.TempDir()
			dir, err := os.OpenRoot(at)
			check(t, err)
			defer dir.Close()
			check(t, writeFiles(dir, map[string]content{"before": file("old")}, time.Unix(1, 0)))
			err = writeFiles(dir, tc.files, time.Unix(2, 0))
			if tc.err == "" {
				check(t, err)
				return
			}
			wantError(t, err, tc.err)
			if text, err := os.ReadFile(filepath.Join(at, "before")); err != nil || string(text) != "old" {
				t.Errorf("the file there was says %q, %v", text, err)
			}
			if entries, err := os.ReadDir(at); err != nil || len(entries) != 3 { // ..data, its target, and the link
				t.Errorf("there are %v, %v", entries, err)
			}
		})
	}
}

// TestSetup_takesNoFilesFromAPod: if an object is gone or lacks a key, Setup fails and the files
// stay.
func TestSetup_takesNoFilesFromAPod(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(s *server)
		want   string
	}{
		"gone":     {func(s *server) { s.maps = nil }, `the files stay as they were: volume "files": configmaps "x" not found`},
		"key gone": {func(s *server) { s.maps["x"].Data = map[string]string{"b": "B"} }, `the files stay as they were: volume "files": ConfigMap x has no key "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			s := &server{maps: map[string]*v1.ConfigMap{"x": {Data: map[string]string{"a": "A"}}}}
			v.objects = s
			p := newPod(v1.Volume{Name: "files", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{
				LocalObjectReference: v1.LocalObjectReference{Name: "x"}, Items: []v1.KeyToPath{{Key: "a", Path: "a"}},
			}}})
			check(t, v.Setup(t.Context(), p))
			tc.change(s)
			err := v.Setup(t.Context(), p)
			if stale, ok := errors.AsType[*StaleError](err); !ok || stale.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			if text, err := os.ReadFile(filepath.Join(v.layout.VolumeDir(p.UID, configMapPlugin, "files"), "a")); err != nil || string(text) != "A" {
				t.Errorf("the file says %q, %v", text, err)
			}
		})
	}
}

// TestSetup_keepsFilesThatCannotBeReplaced: a change that cannot be written takes nothing from a pod.
func TestSetup_keepsFilesThatCannotBeReplaced(t *testing.T) {
	t.Parallel()
	v, _ := newVolumes(t)
	s := &server{maps: map[string]*v1.ConfigMap{"x": {Data: map[string]string{"a": "A"}}, "y": {Data: map[string]string{"b": "B"}}}}
	v.objects = s
	source := func(name string, items ...v1.KeyToPath) v1.VolumeProjection {
		return v1.VolumeProjection{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: v1.LocalObjectReference{Name: name}, Items: items}}
	}
	p := newPod(v1.Volume{Name: "files", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{
		Sources: []v1.VolumeProjection{source("x"), source("y", v1.KeyToPath{Key: "b", Path: "conf/b"})},
	}}})
	check(t, v.Setup(t.Context(), p))
	s.maps["x"].Data["conf"] = "a file where a directory is"
	err := v.Setup(t.Context(), p)
	if _, stale := errors.AsType[*StaleError](err); !stale {
		t.Errorf("got %v, want a StaleError", err)
	}
	if text, err := os.ReadFile(filepath.Join(v.layout.VolumeDir(p.UID, projectedPlugin, "files"), "conf", "b")); err != nil || string(text) != "B" {
		t.Errorf("the file says %q, %v", text, err)
	}
}

// TestSetup_afterAPartWasMissing: directories that were made for a subPath of a missing object give way
// to the object's files.
func TestSetup_afterAPartWasMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sub, key string }{
		"in a directory":                       {"conf/app.conf", "other"},
		"of the name of a file":                {"conf", "conf"},
		"in a directory of the name of a file": {"conf/app.conf", "conf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			s := &server{maps: map[string]*v1.ConfigMap{}}
			v.objects = s
			p := newPod(v1.Volume{Name: "files", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{
				LocalObjectReference: v1.LocalObjectReference{Name: "x"}, Optional: new(true),
			}}})
			p.Spec.Containers = []v1.Container{{Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "files", MountPath: "/f", SubPath: tc.sub}}}}
			check(t, v.Setup(t.Context(), p))
			_, err := v.Mounts(p, &p.Spec.Containers[0], nil)
			check(t, err)
			check(t, v.Setup(t.Context(), p))
			_, err = v.Mounts(p, &p.Spec.Containers[0], nil)
			check(t, err)
			s.maps["x"] = &v1.ConfigMap{Data: map[string]string{tc.key: "X"}}
			check(t, v.Setup(t.Context(), p))
			if text, err := os.ReadFile(filepath.Join(v.layout.VolumeDir(p.UID, configMapPlugin, "files"), tc.key)); err != nil || string(text) != "X" {
				t.Errorf("the file says %q, %v", text, err)
			}
		})
	}
}

// FuzzWriteFiles writes files with any paths into a volume that has a link to the outside.
func FuzzWriteFiles(f *testing.F) {
	for _, seed := range [][3]string{{"a", "b", "c"}, {"a", "a/b", "a"}, {"d/a", "d/b", "d"}, {"..data/a", "..2026", "..data"}, {"../a", "/a", "."}, {"a/../../b", "", "a"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, one, other, link string) {
		at := t.TempDir()
		volume, outside := filepath.Join(at, "volume"), filepath.Join(at, "outside")
		check(t, os.Mkdir(volume, 0o755))
		check(t, os.Mkdir(outside, 0o755))
		dir, err := os.OpenRoot(volume)
		check(t, err)
		defer dir.Close()
		_ = dir.Symlink("../outside", link)
		files := map[string]content{}
		for _, path := range []string{one, other} {
			if filepath.Clean(one) == filepath.Clean(other) {
				path = one // both paths name one file
			}
			files[path] = content{data: []byte(path), mode: 0o644, user: -1, group: -1}
		}
		for range 2 { // the second time, the files exist already
			if writeFiles(dir, files, testNow()) != nil {
				continue
			}
			for path, c := range files {
				if data, err := dir.ReadFile(filepath.Join(dataLink, path)); err != nil || string(data) != string(c.data) {
					t.Errorf("%q says %q, %v", path, data, err)
				}
			}
		}
		err = filepath.WalkDir(at, func(path string, e fs.DirEntry, err error) error {
			if !e.IsDir() && path != at && !strings.HasPrefix(path, volume+"/") {
				t.Errorf("there is %s", path)
			}
			return err
		})
		check(t, err)
	})
}
