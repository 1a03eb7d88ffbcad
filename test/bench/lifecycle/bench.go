package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// bench is one run.
type bench struct {
	*options
	runtime  *harness.Runtime
	cri      criapi.RuntimeServiceClient
	events   *events
	template *template
	// tracer is nil for none.
	tracer   *tracer
	measured series
	// random generates the pauses; they are the same in every run.
	random *rand.Rand
}

// closeTimeout limits how long removing the runtime may take.
const closeTimeout = 2 * time.Minute

// measure measures everything on a private runtime, which it removes afterwards.
func (o *options) measure(ctx context.Context) (_ series, err error) {
	b := &bench{options: o, events: newEvents(), measured: series{}, random: rand.New(rand.NewPCG(1, 2))}
	if b.runtime, err = harness.StartRuntime(ctx, privateruntime.Options{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.stopRuntime(context.WithoutCancel(ctx))) }()
	// stop ends the stream of events before the connection is closed.
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.cri = b.runtime.CRI
	done, err := b.events.listen(listening, b.cri)
	defer func() {
		stop()
		if done != nil {
			done()
		}
	}()
	if err != nil {
		return nil, err
	}
	if o.trace == "" {
		return b.measured, b.all(ctx)
	}
	return b.measured, b.traced(ctx, b.runtime.Connection)
}

// traced measures everything and writes the calls of agents to a file.
func (b *bench) traced(ctx context.Context, conn *grpc.ClientConn) (err error) {
	file, err := os.Create(b.trace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if b.tracer, err = startTracer(conn, file); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.tracer.stop()) }()
	return b.all(ctx)
}

// endpoint returns the endpoint of the runtime for the agents.
func (b *bench) endpoint() string {
	if b.tracer != nil {
		return b.tracer.endpoint()
	}
	return b.runtime.Endpoint()
}

func (b *bench) stopRuntime(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	return b.runtime.Close(ctx)
}

// built returns a path below the directory of built programs.
func (b *bench) built(elem ...string) string {
	return filepath.Join(append([]string{b.root, "build"}, elem...)...)
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "lifecycle: "+format+"\n", args...)
}

// all measures all rounds.
func (b *bench) all(ctx context.Context) error {
	if err := b.learn(ctx); err != nil {
		return fmt.Errorf("learn what the agent asks of the runtime: %w", err)
	}
	sides := []struct {
		name string
		turn func(context.Context) error
	}{
		{ours, b.wardletTurn},
		{kubelet, b.kubeletTurn},
		{floor, b.floorTurn},
	}
	var over time.Duration
	start := time.Now()
	for round := range b.rounds {
		if !b.fits(round, time.Since(start)) {
			b.say("rounds %d to %d are left out: they would not end within %s on this machine", round+1, b.rounds, b.within.Round(time.Second))
			return nil
		}
		b.parts = b.every.inRound(round, b.long)
		for i := range sides {
			side := sides[(round+i)%len(sides)]
			began := time.Now()
			if err := side.turn(ctx); err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, side.name, err)
			}
			b.say("round %d of %d: %s took %s", round+1, b.rounds, side.name, time.Since(began).Round(time.Second))
			over += expected(side.name, b.parts)
			if err := b.report(float64(over)/float64(b.expected()), b.measured); err != nil {
				return err
			}
		}
		b.sayRound()
	}
	return nil
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits for up to about a second, so that measurements begin at random points of a kubelet's
// period.
func (b *bench) pause(ctx context.Context) error {
	return wait(ctx, 200*time.Millisecond+time.Duration(b.random.Int64N(int64(time.Second))))
}

// parallel calls do with all elements, by so many workers at a time, and waits.
func parallel[T any](workers int, all []T, do func(T) error) error {
	queue := make(chan T, len(all))
	for _, one := range all {
		queue <- one
	}
	close(queue)
	errs := make([]error, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			for one := range queue {
				if err := do(one); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// clear removes all pods from the runtime.
func (b *bench) clear(ctx context.Context) error {
	list, err := b.cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	err = parallel(4, list.GetItems(), func(s *criapi.PodSandbox) error {
		if _, err := b.cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: s.GetId()}); err != nil {
			return err
		}
		_, err := b.cri.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: s.GetId()})
		return err
	})
	b.events.forget()
	return err
}
