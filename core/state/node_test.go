package state

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNodeMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d, _ := open(t, path)
	if n, err := d.NodeMemory().Load(); n != nil || err != nil {
		t.Errorf("before a node is stored: %v, %v", n, err)
	}
	want := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge", UID: "1", Labels: map[string]string{"rack": "7"}}}
	want.Spec.Taints = []v1.Taint{{Key: "edge", Effect: v1.TaintEffectNoSchedule}}
	if err := d.NodeMemory().Store(want); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, _ = open(t, path)
	got, err := d.NodeMemory().Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

func TestShutdowns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d, _ := open(t, path)
	if s, err := d.Shutdowns().Load(); s != (Shutdown{}) || err != nil {
		t.Errorf("before a shutdown: %v, %v", s, err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, want := range []Shutdown{{Began: noon}, {Began: noon, Ended: noon.Add(time.Minute)}} {
		if err := d.Shutdowns().Store(want); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d, _ = open(t, path)
		if got, err := d.Shutdowns().Load(); got != want || err != nil {
			t.Errorf("after a restart: %v, %v; want %v", got, err, want)
		}
	}
}

func TestDir_LeaveCluster(t *testing.T) {
	t.Parallel()
	d, _ := open(t, filepath.Join(t.TempDir(), "state"))
	of := func(name string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "app"}}}}
	}
	for _, r := range []Record{{Source: "api", ID: "a", Pod: of("a")}, {Source: "files", ID: "b", Pod: of("b")}} {
		if err := d.Documents().Put(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.Objects().Put(&Object{Key: "secret"}), d.NodeMemory().Store(&v1.Node{})); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Authorities(); all != nil || err != nil {
		t.Errorf("before it is in a cluster: %v, %v", all, err)
	}
	if err := d.StoreAuthorities([]string{"one"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.LeaveCluster("api"); err != nil {
			t.Fatal(err)
		}
	}
	records, errs := d.Documents().LoadAll()
	objects, more := d.Objects().Load()
	node, err := d.NodeMemory().Load()
	if errs = append(append(errs, more...), err); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	if len(records) != 1 || records[0].Source != "files" || objects != nil || node != nil {
		t.Errorf("documents %v, objects %v, node %v are left", records, objects, node)
	}
	if all, err := d.Authorities(); len(all) != 1 || err != nil {
		t.Errorf("authorities %v, %v", all, err)
	}
}
