package stats

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// volumesOf returns the statistics of the only pod's volumes, and what the pod uses of the disk.
func (r *rig) volumesOf(t *testing.T) (volumes []statsapi.VolumeStats, storage uint64) {
	t.Helper()
	got, err := r.Summary(t.Context(), false)
	if err != nil || len(got.Pods) != 1 {
		t.Fatal(got, err)
	}
	return got.Pods[0].VolumeStats, *got.Pods[0].EphemeralStorage.UsedBytes
}

// TestVolumes counts the files of an emptyDir once a minute, and only when they are asked for.
func TestVolumes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "web", "main")
	limit := resource.MustParse("1Mi")
	r.pods = []*v1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "uid-web"}, Spec: v1.PodSpec{Volumes: []v1.Volume{
		{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: &limit}}},
		{Name: "fast", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: v1.StorageMediumMemory}}},
		{Name: "config", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{}}},
	}}}}
	const data = "lib/pods/uid-web/volumes/kubernetes.io~empty-dir/data/"
	r.write(t, map[string]string{data + "a": strings.Repeat("x", 10_000), "lib/pods/uid-web/volumes/kubernetes.io~empty-dir/fast/a": ""})

	first, before := r.volumesOf(t)
	if len(first) != 1 || first[0].Name != "fast" {
		t.Errorf("before the count: %+v", first)
	}
	// The goroutine of Run counts what is due.
	count := func() {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		for deadline := time.Now().Add(10 * time.Second); len(r.volumes.due()) > 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond) // files are counted, which no clock of a test drives
		}
		cancel()
		running.Wait()
	}
	count()
	r.advance(fresh)
	second, after := r.volumesOf(t)
	if len(second) != 2 || second[0].Name != "data" || *second[0].UsedBytes < 10_000 || *second[0].InodesUsed != 2 || *second[0].CapacityBytes == 0 {
		t.Fatalf("after the count: %+v", second)
	}
	if after-before != *second[0].UsedBytes {
		t.Errorf("the pod uses %d bytes more, want %d", after-before, *second[0].UsedBytes)
	}
	r.write(t, map[string]string{data + "b": strings.Repeat("x", 50_000)})
	r.advance(fresh)
	if third, _ := r.volumesOf(t); *third[0].UsedBytes != *second[0].UsedBytes || len(r.volumes.wanted) != 0 {
		t.Errorf("within a minute they are counted again: %+v", third[0])
	}
	r.advance(countAgain)
	r.volumesOf(t)
	count()
	r.advance(fresh)
	if fourth, _ := r.volumesOf(t); *fourth[0].UsedBytes < 60_000 {
		t.Errorf("after a minute: %+v", fourth[0])
	}
	r.pods = nil
	r.advance(fresh)
	if last, _ := r.volumesOf(t); len(last) != 0 || len(r.volumes.known) != 0 {
		t.Errorf("without volumes: %+v, %d known", last, len(r.volumes.known))
	}
}

// TestVolumes_count delays the next count in proportion to the last one.
func TestVolumes_count(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	took := 10 * time.Second
	v := &volumes{cfg: &Config{Now: func() time.Time { now = now.Add(took); return now }}, known: map[volumeKey]*volumeUse{}}
	key := volumeKey{"u", "data"}
	v.known[key] = &volumeUse{path: t.TempDir()}
	v.count(t.Context(), key)
	if got := v.known[key]; got.inodes != 1 || got.due.Sub(got.counted) != countShare*took {
		t.Errorf("%+v", got)
	}
	v.count(t.Context(), volumeKey{"u", "gone"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v.known[key] = &volumeUse{path: t.TempDir()}
	if v.count(ctx, key); !v.known[key].counted.IsZero() || v.known[key].due.IsZero() {
		t.Errorf("a count that was broken off: %+v", v.known[key])
	}
}
