package eviction

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/volume/usage"
)

const (
	// countTime limits the time for counting the files of all pods, and minCountTime is how much of it
	// each pod has at least.
	countTime    = 30 * time.Second
	minCountTime = 200 * time.Millisecond
)

// Usage implements Node. A pod without a cgroup uses no memory and no process IDs.
func (m *Machine) Usage(ctx context.Context, pods []*v1.Pod, of threshold.Signal) map[types.UID]Usage {
	all := map[types.UID]Usage{}
	switch resourceOf(of) {
	case v1.ResourceMemory:
		m.each(pods, "the memory of pods", all, m.memory)
	case pids:
		m.each(pods, "the processes of pods", all, func(_ types.UID, cgroup string) Usage {
			return usageOf(m.cfg.Kernel.All(cgroup).Tasks)
		})
	default:
		m.disk(ctx, pods, of, all)
	}
	return all
}

var errCgroups = errors.New("the kernel does not count them for each cgroup: mount or delegate the cgroup controllers memory and pids")

// each reads the cgroups of pods. The usage of a pod whose cgroup cannot be read is unknown.
func (m *Machine) each(pods []*v1.Pod, what string, all map[types.UID]Usage, read func(uid types.UID, cgroup string) Usage) {
	var fault error
	cgroups := m.cfg.Kernel.Pods(m.cfg.CgroupRoot())
	for _, p := range pods {
		cgroup, exists := cgroups[p.UID]
		if !exists {
			all[p.UID] = Usage{}
			continue
		}
		u := read(p.UID, cgroup)
		switch {
		case !u.Unknown:
		case !m.cfg.Kernel.Exists(cgroup): // the pod has just ended
			u = Usage{}
		default:
			fault = errCgroups
		}
		all[p.UID] = u
	}
	m.readable(what, fault)
}

// usageOf returns the usage that a counter shows. It is unknown for nil.
func usageOf(n *uint64) Usage {
	if n == nil {
		return Usage{Unknown: true}
	}
	return Usage{Total: int64(min(*n, math.MaxInt64))}
}

// memory returns the working set of a pod and of its containers.
func (m *Machine) memory(uid types.UID, cgroup string) Usage {
	used := func(cgroup string) Usage {
		c := m.cfg.Kernel.Use(cgroup)
		return usageOf(c.WorkingSet())
	}
	u := used(cgroup)
	if u.Unknown {
		return u
	}
	u.Containers = map[string]int64{}
	names := m.containers(uid)
	for id, cgroup := range m.cfg.Kernel.Containers(cgroup) {
		if c := used(cgroup); names[id] != "" && !c.Unknown {
			u.Containers[names[id]] = c.Total
		}
	}
	return u
}

func (m *Machine) containers(uid types.UID) map[string]string {
	if m.cfg.Containers == nil {
		return nil
	}
	return m.cfg.Containers(uid)
}

// disk adds what pods use of the file system that a signal is about. Logs and volumes are on the
// file system of pods, writable layers on that of images. What cannot be counted in time counts as
// not used.
func (m *Machine) disk(ctx context.Context, pods []*v1.Pod, of threshold.Signal, all map[types.UID]Usage) {
	ofImages := of == threshold.ImageFSAvailable || of == threshold.ImageFSInodesFree
	count := counter{
		machine: m, inodes: resourceOf(of) == inodes, layers: m.layers(ctx),
		withLocal: !ofImages || !m.DedicatedImageFS(), withLayers: ofImages || !m.DedicatedImageFS(),
		time: max(countTime/time.Duration(max(len(pods), 1)), minCountTime),
	}
	for _, p := range pods {
		all[p.UID] = count.pod(ctx, p)
	}
}

// layers returns the writable layers by container ID, none if the runtime does not answer.
func (m *Machine) layers(ctx context.Context) map[string]Layer {
	if m.cfg.Layers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*callTime)
	defer cancel()
	layers, err := m.cfg.Layers(ctx)
	m.readable("the writable layers of containers", err)
	return layers
}

// counter counts the files of pods.
type counter struct {
	machine *Machine
	// inodes counts inodes instead of bytes.
	inodes bool
	layers map[string]Layer
	// withLocal adds logs and volumes to the total, and withLayers the writable layers.
	withLocal, withLayers bool
	// time is the time for each pod.
	time time.Duration
}

// pod returns the usage of a pod. The usage of a container is that of its log and its writable
// layer.
func (c *counter) pod(ctx context.Context, p *v1.Pod) Usage {
	ctx, cancel := context.WithTimeout(ctx, c.time)
	defer cancel()
	u := Usage{Containers: map[string]int64{}}
	add := func(container string, used int64, counts bool) {
		u.Containers[container] += used
		if counts {
			u.Total += used
		}
	}
	layout := &c.machine.cfg.Layout
	for container := range pod.Containers(p) {
		add(container.Name, c.below(ctx, filepath.Join(layout.LogDir(p), container.Name)), c.withLocal)
	}
	for id, name := range c.machine.containers(p.UID) {
		layer := c.layers[id]
		if c.inodes {
			add(name, layer.Inodes, c.withLayers)
		} else {
			add(name, layer.Bytes, c.withLayers)
		}
	}
	if c.withLocal {
		u.Total += c.below(ctx, layout.VolumesDir(p.UID))
	}
	return u
}

// below counts the files below a directory. An error leaves out a part of them.
func (c *counter) below(ctx context.Context, dir string) int64 {
	used, _ := usage.Count(ctx, dir, math.MaxInt64)
	if c.inodes {
		return used.Inodes
	}
	return used.Bytes
}
