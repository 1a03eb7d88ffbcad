package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// direct calls the runtime without an agent.
type direct struct {
	*bench
	dir, cgroup string
}

// directPod is a running pod.
type directPod struct {
	name               string
	sandbox, container string
	asked              *request
}

// floorTurn measures direct calls.
func (b *bench) floorTurn(ctx context.Context) error {
	if b.parts.any(partStart, partUpdate, partRestart) {
		if err := b.calling(ctx, func(d *direct) error { return d.singles(ctx) }); err != nil {
			return err
		}
	}
	if b.parts.any(partBurst, partDelete) {
		for _, n := range callers {
			if err := b.calling(ctx, func(d *direct) error { return d.crowd(ctx, n) }); err != nil {
				return err
			}
		}
	}
	if b.parts.any(partIdle) {
		return b.calling(ctx, func(d *direct) error {
			if _, _, err := d.runAll(ctx, callers[0]); err != nil {
				return err
			}
			if err := wait(ctx, b.settle); err != nil {
				return err
			}
			return b.idle(ctx, nobody, 0)
		})
	}
	return nil
}

// calling calls do, which makes pods, and then removes what is left.
func (b *bench) calling(ctx context.Context, do func(*direct) error) (err error) {
	dir, err := os.MkdirTemp("", "wardlet-bench-")
	if err != nil {
		return err
	}
	d := &direct{b, dir, filepath.Base(dir)}
	defer func() {
		clearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
		defer cancel()
		err = errors.Join(err, b.clear(clearing), harness.RemoveCgroups(clearing, d.cgroup), os.RemoveAll(d.dir))
	}()
	return do(d)
}

// run creates and starts a pod whose files exist.
func (d *direct) run(ctx context.Context, name string, asked *request) (directPod, error) {
	p := directPod{name: name, asked: asked}
	sandbox, err := d.cri.RunPodSandbox(ctx, &criapi.RunPodSandboxRequest{Config: asked.sandbox})
	if err != nil {
		return p, err
	}
	p.sandbox = sandbox.GetPodSandboxId()
	err = d.startContainer(ctx, &p)
	return p, err
}

func (d *direct) startContainer(ctx context.Context, p *directPod) error {
	created, err := d.cri.CreateContainer(ctx, &criapi.CreateContainerRequest{
		PodSandboxId: p.sandbox, Config: p.asked.container, SandboxConfig: p.asked.sandbox,
	})
	if err != nil {
		return err
	}
	p.container = created.GetContainerId()
	_, err = d.cri.StartContainer(ctx, &criapi.StartContainerRequest{ContainerId: p.container})
	return err
}

// prepared returns a request whose files exist.
func (d *direct) prepared(name string, attempt int) (*request, error) {
	asked, err := d.template.stamp(name, d.dir, d.cgroup, attempt)
	if err != nil {
		return nil, err
	}
	return asked, asked.prepare()
}

// singles measures operations on single pods.
func (d *direct) singles(ctx context.Context) error {
	var starts, restarts, stops, updates []time.Duration
	for n := range d.single {
		if err := d.pause(ctx); err != nil {
			return err
		}
		asked, err := d.prepared("single-"+strconv.Itoa(n), 0)
		if err != nil {
			return err
		}
		began := time.Now()
		p, err := d.run(ctx, asked.sandbox.GetMetadata().GetName(), asked)
		if err != nil {
			return err
		}
		started, err := d.events.started(ctx, p.container)
		if err != nil {
			return err
		}
		starts = append(starts, started.Sub(began))
		stop, update, err := d.update(ctx, &p, n)
		if err != nil {
			return err
		}
		stops, updates = append(stops, stop), append(updates, update)
		restart, err := d.restart(ctx, &p, n)
		if err != nil {
			return err
		}
		restarts = append(restarts, restart)
	}
	d.measured.addMedian("start "+floor, starts)
	d.measured.addMedian("update "+floor, stops)
	d.measured.addMedian("update "+floor+replaced, updates)
	d.measured.addMedian("restart "+floor, restarts)
	return nil
}

// update replaces a pod's container by a new one.
func (d *direct) update(ctx context.Context, p *directPod, n int) (stop, update time.Duration, err error) {
	if err := wait(ctx, quiet); err != nil {
		return 0, 0, err
	}
	before := p.container
	if p.asked, err = d.prepared("single-"+strconv.Itoa(n), 1); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if _, err := d.cri.StopContainer(ctx, &criapi.StopContainerRequest{ContainerId: before, Timeout: grace}); err != nil {
		return 0, 0, err
	}
	if err := d.startContainer(ctx, p); err != nil {
		return 0, 0, err
	}
	stopped, err := d.events.stopped(ctx, before)
	if err != nil {
		return 0, 0, err
	}
	started, err := d.events.started(ctx, p.container)
	return stopped.Sub(began), started.Sub(began), err
}

// restart kills a pod's container and starts another as soon as the runtime reports that the first
// has exited.
func (d *direct) restart(ctx context.Context, p *directPod, n int) (time.Duration, error) {
	if err := wait(ctx, quiet); err != nil {
		return 0, err
	}
	var err error
	if p.asked, err = d.prepared("single-"+strconv.Itoa(n), 2); err != nil {
		return 0, err
	}
	runs := instance{id: p.container, pod: p.name}
	began, err := d.kill(ctx, runs)
	if err != nil {
		return 0, err
	}
	if _, err := d.events.stopped(ctx, runs.id); err != nil {
		return 0, err
	}
	if err := d.startContainer(ctx, p); err != nil {
		return 0, err
	}
	started, err := d.events.started(ctx, p.container)
	return started.Sub(began), err
}
