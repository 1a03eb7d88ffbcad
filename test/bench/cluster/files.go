package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// shared is the ConfigMap that all pods of a turn use.
	shared = "shared"
	// looks is how often the pods' files are read.
	looks = 10 * time.Millisecond
	// renewal is the most time that files may take to be new. counted is the time after a change in
	// which the processor time is measured.
	renewal, counted = 3 * time.Minute, time.Minute
)

// renewing measures the time from the change of a ConfigMap that many pods use until the files of
// each pod are new, and the agent's processor time in the minute after the change. Wardlet gets
// several changes, a kubelet one.
func (t *turn) renewing(ctx context.Context) error {
	path := "/api/v1/namespaces/" + t.namespace + "/configmaps"
	if err := t.admin.Do(ctx, http.MethodPost, path, generation(0)); err != nil {
		return err
	}
	image, err := t.pause()
	if err != nil {
		return err
	}
	names := make([]string, t.many)
	for n := range names {
		names[n] = fmt.Sprintf("user-%03d", n)
		err := t.make(ctx, names[n], v1.PodSpec{
			Containers: []v1.Container{{Name: "main", Image: image, VolumeMounts: []v1.VolumeMount{{Name: "files", MountPath: "/files"}}}},
			Volumes:    []v1.Volume{{Name: "files", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: shared}}}}},
		})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := t.runs(ctx, name); err != nil {
			return err
		}
	}
	if err := t.settles(ctx); err != nil {
		return err
	}
	changes := t.starts
	if t.side == kubelet {
		changes = 1
	}
	var all []float64
	for n := range changes {
		before, err := t.processorTime()
		if err != nil {
			return err
		}
		began := time.Now()
		if err := t.admin.Do(ctx, http.MethodPut, path+"/"+shared, generation(n+1)); err != nil {
			return err
		}
		if n > 0 {
			took, err := t.renewed(ctx, n+1, began)
			if err != nil {
				return err
			}
			all = append(all, took...)
			continue
		}
		first := make(chan error, 1)
		go func() {
			took, err := t.renewed(ctx, 1, began)
			all = append(all, took...)
			first <- err
		}()
		if err := wait(ctx, counted); err != nil {
			return err
		}
		after, err := t.processorTime()
		if err != nil {
			return err
		}
		t.measured.add(changing, t.side, float64(after-before))
		t.say("%s: the minute in which the files of %d pods change takes %s of processor time", t.side, t.many, (after - before).Round(time.Millisecond))
		if err := <-first; err != nil {
			return err
		}
	}
	slices.Sort(all)
	p99 := all[int(math.Ceil(0.99*float64(len(all))))-1]
	t.measured.add(renewals, t.side, p99)
	t.say("%s: files are new after %s (p99 of %d; p50 %s)", t.side, time.Duration(p99).Round(time.Millisecond), len(all), time.Duration(median(all)).Round(time.Millisecond))
	return t.removeAll(ctx, names)
}

func generation(n int) *v1.ConfigMap {
	return &v1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: shared}, Data: map[string]string{"generation": strconv.Itoa(n)}}
}

// renewed waits until the files of all pods are of generation n, and returns how long each took
// since the time since.
func (t *turn) renewed(ctx context.Context, n int, since time.Time) (took []float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, renewal)
	defer cancel()
	files, err := filepath.Glob(filepath.Join(t.i.Env["AGENT_ROOT"], "pods", "*", "volumes", "kubernetes.io~configmap", "files", "generation"))
	if err != nil {
		return nil, err
	}
	if len(files) != t.many {
		return nil, fmt.Errorf("%d pods have files, want %d", len(files), t.many)
	}
	for len(files) > 0 {
		files = slices.DeleteFunc(files, func(path string) bool {
			text, err := os.ReadFile(path) // there may be no file while it is replaced
			if err != nil || string(text) != strconv.Itoa(n) {
				return false
			}
			took = append(took, float64(time.Since(since)))
			return true
		})
		if err := wait(ctx, looks); err != nil && len(files) > 0 {
			return nil, fmt.Errorf("after %s the files of %d pods are old: %w", renewal, len(files), err)
		}
	}
	return took, nil
}
