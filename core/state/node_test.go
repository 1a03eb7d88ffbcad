package state

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
