package eviction

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	helper "k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/volume/usage"
)

const (
	// limitPeriod is the interval at which the files of pods are compared with their limits. Counting
	// the files of one pod takes at most 1/limitShare of the time, because the next count is delayed in
	// proportion. One count takes countTime at most.
	limitPeriod = 10 * time.Second
	limitShare  = 20
	// overGrace is the grace period, in seconds, of a pod that exceeds a limit, as with a kubelet.
	overGrace = 1
)

// The limits of local storage, as in a kubelet's metric of evictions.
const (
	limitEmptyDir  = "emptydirfs.limit"
	limitPod       = "ephemeralpodfs.limit"
	limitContainer = "ephemeralcontainerfs.limit"
)

// Messages of pods that are evicted for their own limits, the first three as a kubelet's.
const (
	overEmptyDir  = "Usage of EmptyDir volume %q exceeds the limit %q. "
	overPod       = "Pod ephemeral local storage usage exceeds the total limit of containers %s. "
	overContainer = "Container %s exceeded its local ephemeral storage limit %q. "
	overDepth     = "Usage of EmptyDir volume %q cannot be compared with a limit: directories lie too deep in each other. "
)

// LimitsConfig holds the settings and dependencies of Limits. Layers and Dedicated have the meaning of
// those of MachineConfig and Node.
type LimitsConfig struct {
	Layout pod.Layout
	// Containers returns the names of a pod's running containers by ID. As with a kubelet, the files of
	// a container that has ended count for no limit.
	Containers func(uid types.UID) map[string]string
	Layers     func(ctx context.Context) (map[string]Layer, error)
	Dedicated  func() bool
	Pods       Pods
	// Critical reports whether a pod is never evicted.
	Critical func(p *v1.Pod) bool
	// Evicted is called for each eviction, with one of the limits above.
	Evicted func(limit string)
	Log     *slog.Logger
}

// Limits evicts pods whose files on the node exceed the pods' own limits: sizeLimit of an emptyDir, and
// ephemeral-storage of containers. Run works until its context ends.
type Limits struct {
	cfg LimitsConfig
	// due is the time at which the files of a pod are counted again.
	due map[types.UID]time.Time
	// uncounted is the last logged reason why the files of a pod could not be counted.
	uncounted map[types.UID]string
	// noLayers is the last logged reason why the layers of containers are not known.
	noLayers string
	// evicted are pods that were evicted and may not have terminated yet.
	evicted map[types.UID]bool
}

// NewLimits makes Limits.
func NewLimits(cfg LimitsConfig) *Limits {
	return &Limits{cfg: cfg, due: map[types.UID]time.Time{}, uncounted: map[types.UID]string{}, evicted: map[types.UID]bool{}}
}

// Run compares the files of pods with their limits every 10 s, until ctx ends.
func (l *Limits) Run(ctx context.Context) {
	for pause(ctx, limitPeriod) {
		l.look(ctx)
	}
}

func (l *Limits) look(ctx context.Context) {
	there := map[types.UID]bool{}
	var layers map[string]Layer
	asked := false
	for _, p := range l.cfg.Pods.Active() {
		of := limitsOf(p)
		if !of.any() {
			continue
		}
		there[p.UID] = true
		if time.Now().Before(l.due[p.UID]) || l.evicted[p.UID] || l.cfg.Critical(p) {
			continue
		}
		if of.storage() && !asked {
			layers, asked = l.layers(ctx), true
		}
		began := time.Now()
		limit, message := l.exceeded(ctx, p, &of, layers)
		if ctx.Err() != nil {
			return
		}
		l.due[p.UID] = time.Now().Add(limitShare * time.Since(began))
		if message != "" {
			l.evicted[p.UID] = true
			l.cfg.Evicted(limit)
			l.cfg.Pods.Evict(p, overGrace, message, nil)
		}
	}
	for uid := range l.due {
		if !there[uid] {
			delete(l.due, uid)
			delete(l.uncounted, uid)
			delete(l.evicted, uid)
		}
	}
}

// layers returns the writable layers of all containers, none if the runtime does not answer.
func (l *Limits) layers(ctx context.Context) map[string]Layer {
	ctx, cancel := context.WithTimeout(ctx, 5*callTime)
	defer cancel()
	layers, err := l.cfg.Layers(ctx)
	switch {
	case err == nil:
		l.noLayers = ""
	case err.Error() != l.noLayers && ctx.Err() == nil:
		l.noLayers = err.Error()
		l.cfg.Log.Warn("the writable layers of containers do not count for their limits", "err", err)
	}
	return layers
}

// podLimits are the limits of a pod for its files on the disk of the node.
type podLimits struct {
	// volumes are the limits of emptyDirs by name, and containers those of containers.
	volumes, containers map[string]*resource.Quantity
	// total is the limit of the pod, nil for none.
	total *resource.Quantity
}

func (l *podLimits) any() bool     { return len(l.volumes) > 0 || l.storage() }
func (l *podLimits) storage() bool { return len(l.containers) > 0 || l.total != nil }

// limitsOf returns the limits of a pod. The limit of an emptyDir and of a container is none if it is 0,
// as with a kubelet. An emptyDir in memory cannot grow beyond its limit.
func limitsOf(p *v1.Pod) podLimits {
	l := podLimits{volumes: map[string]*resource.Quantity{}, containers: map[string]*resource.Quantity{}}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.EmptyDir != nil && v.EmptyDir.Medium == v1.StorageMediumDefault && v.EmptyDir.SizeLimit != nil && v.EmptyDir.SizeLimit.Sign() > 0 {
			l.volumes[v.Name] = v.EmptyDir.SizeLimit
		}
	}
	some := false
	for c := range pod.Containers(p) {
		limit, ok := c.Resources.Limits[v1.ResourceEphemeralStorage]
		some = some || ok
		if limit.Sign() > 0 {
			l.containers[c.Name] = &limit
		}
	}
	if some {
		all := helper.PodLimits(p, helper.PodResourcesOptions{})
		l.total = all.StorageEphemeral()
	}
	return l
}

// exceeded returns the first limit that a pod exceeds, in a kubelet's order, and a message about it.
// Both are empty for none.
func (l *Limits) exceeded(ctx context.Context, p *v1.Pod, of *podLimits, layers map[string]Layer) (limit, message string) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	dirs := int64(0)
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		most := of.volumes[v.Name]
		if v.EmptyDir == nil || v.EmptyDir.Medium != v1.StorageMediumDefault || most == nil && of.total == nil {
			continue
		}
		stop := int64(math.MaxInt64)
		if most != nil {
			stop = most.Value()
		}
		used, err := usage.Count(ctx, l.cfg.Layout.VolumeDir(p.UID, volume.EmptyDirPlugin, v.Name), stop)
		switch {
		case used.Bytes > stop:
			return limitEmptyDir, fmt.Sprintf(overEmptyDir, v.Name, most.String())
		case used.Deep:
			return limitEmptyDir, fmt.Sprintf(overDepth, v.Name)
		case err != nil && l.uncounted[p.UID] != err.Error():
			l.uncounted[p.UID] = err.Error()
			l.cfg.Log.Warn("not all files of a pod can be counted; its limit may not be enforced", "pod", p.Namespace+"/"+p.Name, "volume", v.Name, "err", err)
		}
		dirs += used.Bytes
	}
	if !of.storage() {
		return "", ""
	}
	used := l.containers(ctx, p, layers)
	total := dirs
	for _, n := range used {
		total += n
	}
	if of.total != nil && total > of.total.Value() {
		return limitPod, fmt.Sprintf(overPod, of.total.String())
	}
	for c := range pod.Containers(p) {
		if most := of.containers[c.Name]; most != nil && used[c.Name] > most.Value() {
			return limitContainer, fmt.Sprintf(overContainer, c.Name, most.String())
		}
	}
	return "", ""
}

// containers returns what the running containers of a pod use on the file system of pods, in bytes:
// their logs, and their writable layers if those are on it.
func (l *Limits) containers(ctx context.Context, p *v1.Pod, layers map[string]Layer) map[string]int64 {
	used := map[string]int64{}
	dedicated := l.cfg.Dedicated()
	for id, name := range l.cfg.Containers(p.UID) {
		logs, _ := usage.Count(ctx, filepath.Join(l.cfg.Layout.LogDir(p), name), math.MaxInt64) // the agent makes these files
		used[name] = logs.Bytes
		if !dedicated {
			used[name] += layers[id].Bytes
		}
	}
	return used
}
