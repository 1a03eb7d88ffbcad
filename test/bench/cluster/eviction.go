package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// The file system of pods for the measurement of evictions, and the file that fills it beyond the
// threshold of 50 %.
const (
	podDisk   = "size=256m"
	podDiskMB = 160
	evictions = 10
)

// evicting measures the time from a file that fills the file system of pods beyond a threshold until
// the API server shows its pod as evicted. The agent runs with a small file system for pods meanwhile.
func (t *turn) evicting(ctx context.Context) (err error) {
	root := t.i.Env["AGENT_ROOT"]
	if err := t.i.StopNode(ctx); err != nil {
		return err
	}
	if err := unix.Mount("wardlet-bench", root, "tmpfs", 0, podDisk); err != nil {
		return fmt.Errorf("mount a file system for pods: %w", err)
	}
	extra := t.i.Extra
	t.i.Extra = append(slices.Clone(extra), "NODEFS_AVAILABLE=50%", "PRESSURE_TRANSITION=1s")
	defer func() {
		t.i.Extra = extra
		err = errors.Join(err, t.i.StopNode(ctx), unix.Unmount(root, unix.MNT_DETACH), t.i.StartNode(ctx, t.agent))
	}()
	if err := errors.Join(unix.Mount("", root, "", unix.MS_REC|unix.MS_SHARED, ""), t.i.StartNode(ctx, t.agent)); err != nil {
		return err
	}
	var all []float64
	for n := range min(evictions, t.starts) {
		took, err := t.evict(ctx, root, "full-"+strconv.Itoa(n))
		if err != nil {
			return err
		}
		all = append(all, float64(took))
	}
	t.measured.add(evicted, t.side, median(all))
	t.say("%s: a pod that fills the disk has ended after %s (from %s to %s)", t.side, time.Duration(median(all)).Round(time.Millisecond),
		time.Duration(slices.Min(all)).Round(time.Millisecond), time.Duration(slices.Max(all)).Round(time.Millisecond))
	return nil
}

// evict starts a pod, fills its volume, and waits until it has ended.
func (t *turn) evict(ctx context.Context, root, name string) (time.Duration, error) {
	image, err := t.pause()
	if err != nil {
		return 0, err
	}
	err = t.make(ctx, name, v1.PodSpec{
		Containers: []v1.Container{{Name: "main", Image: image, VolumeMounts: []v1.VolumeMount{{Name: name, MountPath: "/data"}}}},
		Volumes:    []v1.Volume{{Name: name, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}},
	})
	if err != nil {
		return 0, err
	}
	if err := t.runs(ctx, name); err != nil {
		return 0, err
	}
	volumes, err := filepath.Glob(filepath.Join(root, "pods", "*", "volumes", "kubernetes.io~empty-dir", name))
	if err != nil || len(volumes) != 1 {
		return 0, fmt.Errorf("the volume of %s is at %q, %w", name, volumes, err)
	}
	began := time.Now()
	if err := os.WriteFile(filepath.Join(volumes[0], "file"), make([]byte, podDiskMB<<20), 0o600); err != nil {
		return 0, err
	}
	waiting, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	// A kubelet says that an evicted pod succeeded if its container exits with 0, as the one of the pause image does.
	err = t.pods.Until(waiting, name, func(st *v1.PodStatus) bool { return pod.IsTerminal(st.Phase) })
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if err := t.remove(ctx, name); err != nil {
		return 0, err
	}
	return took, t.withoutPressure(ctx)
}

// calmTime is for how long a node shows no pressure before it has none: a kubelet shows a condition
// up to 10 s late, also the begin of one.
const calmTime = 20 * time.Second

// withoutPressure waits until the node admits pods again.
func (t *turn) withoutPressure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	for last := time.Now(); ; {
		out, err := t.i.Kubectl(ctx, "get", "node", t.i.Env["NODE_NAME"], "-o", `jsonpath={.status.conditions[?(@.type=="DiskPressure")].status}{.spec.taints}`)
		if err != nil || out != "False" {
			last = time.Now()
		}
		if time.Since(last) >= calmTime {
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return errors.Join(errors.New("the node stays under pressure"), err)
		}
	}
}
