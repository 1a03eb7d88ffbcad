package eviction

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// overLimits is a node with one pod, whose files a test makes.
type overLimits struct {
	pod       *v1.Pod
	dedicated bool
	layer     int64
	layersErr error
	evicted   []string
	log       bytes.Buffer
}

func (o *overLimits) Active() []*v1.Pod        { return []*v1.Pod{o.pod} }
func (o *overLimits) CleanedUp(types.UID) bool { return false }

func (o *overLimits) Evict(_ *v1.Pod, grace int64, message string, _ map[string]string) {
	if grace != 1 {
		message += "in another time"
	}
	o.evicted = append(o.evicted, message)
}

func (o *overLimits) limits(f *tree) *Limits {
	return NewLimits(LimitsConfig{
		Layout:     pod.Layout{PodRoot: f.dir, LogRoot: f.dir + "/log"},
		Containers: func(types.UID) map[string]string { return map[string]string{"id": "main"} },
		Layers: func(context.Context) (map[string]Layer, error) {
			return map[string]Layer{"id": {Bytes: o.layer}}, o.layersErr
		},
		Dedicated: func() bool { return o.dedicated }, Pods: o, Critical: func(p *v1.Pod) bool { return *p.Spec.Priority > 1000 },
		Evicted: func(limit string) { o.evicted = append(o.evicted, limit) }, Log: slog.New(slog.NewTextHandler(&o.log, nil)),
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	const volume, logs = "pods/web/volumes/kubernetes.io~empty-dir/data/file", "log/pods/shop_web_web/main/0.log"
	const overVolume = limitEmptyDir + ` Usage of EmptyDir volume "data" exceeds the limit "64Ki". `
	const overTotal = limitPod + ` Pod ephemeral local storage usage exceeds the total limit of containers 100Ki. `
	const overMain = limitContainer + ` Container main exceeded its local ephemeral storage limit "100Ki". `
	for name, test := range map[string]struct {
		// size and storage are the limits of the volume and of the container, empty for none.
		size, storage string
		change        func(o *overLimits)
		// The files have so many KiB.
		volume, logs int
		want         string
	}{
		"no limit":                          {volume: 900, logs: 900},
		"a volume within its limit":         {size: "64Ki", volume: 48, logs: 900},
		"a volume":                          {size: "64Ki", volume: 80, want: overVolume},
		"a volume with the limit 0":         {size: "0", volume: 80},
		"a volume in memory":                {size: "64Ki", volume: 80, change: func(o *overLimits) { o.pod.Spec.Volumes[0].EmptyDir.Medium = v1.StorageMediumMemory }},
		"a pod and its container":           {storage: "100Ki", logs: 140, want: overTotal},
		"a pod, by its volume":              {storage: "100Ki", volume: 80, logs: 60, want: overTotal},
		"a pod, by its layer":               {storage: "100Ki", logs: 60, change: func(o *overLimits) { o.layer = 80 * kib }, want: overTotal},
		"a layer on another file system":    {storage: "100Ki", logs: 60, change: func(o *overLimits) { o.layer, o.dedicated = 80*kib, true }},
		"a runtime that does not answer":    {storage: "100Ki", logs: 60, change: func(o *overLimits) { o.layersErr = errors.New("the runtime is away") }},
		"a container within its pod":        {storage: "100Ki", logs: 140, change: second("900Ki"), want: overMain},
		"another container has no limit":    {storage: "100Ki", logs: 140, change: second(""), want: overTotal},
		"a container within its limit":      {storage: "100Ki", logs: 60},
		"a limit of storage that is 0":      {storage: "0", logs: 60, want: limitPod + ` Pod ephemeral local storage usage exceeds the total limit of containers 0. `},
		"a critical pod":                    {size: "64Ki", storage: "100Ki", volume: 80, logs: 140, change: func(o *overLimits) { *o.pod.Spec.Priority = 2000 }},
		"first the volume, then everything": {size: "64Ki", storage: "100Ki", volume: 80, logs: 140, want: overVolume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &tree{dir: t.TempDir()}
			o := &overLimits{}
			o.pod, _ = podOf(t, "shop/web 0 - 0")
			o.pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
			if test.size != "" {
				o.pod.Spec.Volumes[0].EmptyDir.SizeLimit = new(resource.MustParse(test.size))
			}
			if test.storage != "" {
				o.pod.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceEphemeralStorage: resource.MustParse(test.storage)}
			}
			if test.change != nil {
				test.change(o)
			}
			f.write(t, volume, strings.Repeat("x", test.volume*kib), logs, strings.Repeat("x", test.logs*kib))
			l := o.limits(f)
			for range 2 {
				clear(l.due)
				l.look(t.Context())
			}
			if got := strings.Join(o.evicted, " "); got != test.want {
				t.Errorf("evicted %q, want %q", got, test.want)
			}
			if warned := strings.Count(o.log.String(), "the runtime is away"); (warned == 1) != (o.layersErr != nil) || warned > 1 {
				t.Errorf("log: %s", o.log.String())
			}
		})
	}
}

// second adds a container that uses nothing, with a limit.
func second(limit string) func(o *overLimits) {
	return func(o *overLimits) {
		c := v1.Container{Name: "second"}
		if limit != "" {
			c.Resources.Limits = v1.ResourceList{v1.ResourceEphemeralStorage: resource.MustParse(limit)}
		}
		o.pod.Spec.Containers = append(o.pod.Spec.Containers, c)
	}
}

func TestLimits_aVolumeThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	f, o := &tree{dir: t.TempDir()}, &overLimits{}
	o.pod, _ = podOf(t, "shop/web 0 - 0")
	o.pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Gi"))}}}}
	f.write(t, "pods/web/volumes/kubernetes.io~empty-dir/data/"+strings.Repeat("d/", 600)+"file", "")
	l := o.limits(f)
	l.look(t.Context())
	if got := strings.Join(o.evicted, " "); !strings.Contains(got, "too deep") {
		t.Errorf("evicted %q", got)
	}
}

// TestLimits_countsSeldom: a pod with many files is counted in a part of the time only.
func TestLimits_countsSeldom(t *testing.T) {
	t.Parallel()
	f, o := &tree{dir: t.TempDir()}, &overLimits{}
	o.pod, _ = podOf(t, "shop/web 0 - 0")
	o.pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Ki"))}}}}
	l := o.limits(f)
	f.write(t, "pods/web/volumes/kubernetes.io~empty-dir/data/file", strings.Repeat("x", 80<<10))
	l.due["web"] = time.Now().Add(time.Hour)
	if l.look(t.Context()); len(o.evicted) != 0 {
		t.Errorf("counted before it is due: %q", o.evicted)
	}
	l.due["web"] = time.Now()
	if l.look(t.Context()); len(o.evicted) != 2 {
		t.Errorf("evicted %q", o.evicted)
	}
}

// TestLimits_ofContainersThatHaveEnded: as with a kubelet, only running containers count.
func TestLimits_ofContainersThatHaveEnded(t *testing.T) {
	t.Parallel()
	f, o := &tree{dir: t.TempDir()}, &overLimits{}
	o.pod, _ = podOf(t, "shop/web 0 - 0")
	limits := v1.ResourceRequirements{Limits: v1.ResourceList{v1.ResourceEphemeralStorage: resource.MustParse("100Ki")}}
	o.pod.Spec.InitContainers = []v1.Container{{Name: "init", Resources: limits}}
	o.pod.Spec.Containers[0].Resources = limits
	const kib = 1 << 10
	f.write(t, "log/pods/shop_web_web/main/0.log", strings.Repeat("x", 60*kib), "log/pods/shop_web_web/init/0.log", strings.Repeat("x", 60*kib))
	l := o.limits(f)
	l.cfg.Layers = func(context.Context) (map[string]Layer, error) {
		return map[string]Layer{"id": {Bytes: 20 * kib}, "of init": {Bytes: 60 * kib}, "main before": {Bytes: 60 * kib}}, nil
	}
	if l.look(t.Context()); len(o.evicted) != 0 {
		t.Errorf("evicted %q", o.evicted)
	}
}
