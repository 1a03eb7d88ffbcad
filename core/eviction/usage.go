package eviction

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
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
		m.each(pods, "the memory of pods", "memory", all, m.memory)
	case pids:
		m.each(pods, "the processes of pods", "pids", all, func(_ *v1.Pod, dir string) (Usage, error) {
			n, err := number(filepath.Join(dir, "pids.current"))
			return Usage{Total: n}, err
		})
	default:
		m.disk(ctx, pods, of, all)
	}
	return all
}

// each reads the cgroups of pods. The usage of a pod whose cgroup cannot be read is unknown.
func (m *Machine) each(pods []*v1.Pod, what, controller string, all map[types.UID]Usage, read func(p *v1.Pod, dir string) (Usage, error)) {
	var fault error
	for _, p := range pods {
		dir := m.cfg.Cgroups.PodDir(p, controller)
		if dir == "" {
			all[p.UID], fault = Usage{Unknown: true}, errNoController
			continue
		}
		u, err := read(p, dir)
		switch {
		case err == nil:
			all[p.UID] = u
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV): // it has no cgroup, or no longer
			all[p.UID] = Usage{}
		default:
			all[p.UID] = Usage{Unknown: true}
			if fault == nil {
				fault = err
			}
		}
	}
	m.readable(what, fault)
}

// memory returns the working set of a pod and of its containers.
func (m *Machine) memory(p *v1.Pod, dir string) (Usage, error) {
	used, err := workingSet(dir, m.cfg.Cgroups.V2())
	if err != nil {
		return Usage{}, err
	}
	u := Usage{Total: used, Containers: map[string]int64{}}
	for id, name := range m.containers(p.UID) {
		if used, err := workingSet(filepath.Join(dir, id), m.cfg.Cgroups.V2()); err == nil {
			u.Containers[name] = used
		}
	}
	return u, nil
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
