package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// patience is how long one event is waited for.
const patience = 90 * time.Second

// instance is what the runtime has reported about a container.
type instance struct {
	id, pod string
	// started and finished are zero until they are reported.
	started, finished time.Time
}

// events has the state of all containers from the runtime's events.
type events struct {
	mu   sync.Mutex
	byID map[string]instance
	// changed is closed, and replaced, when something has changed.
	changed chan struct{}
	// err is why no more events will come, nil while they do.
	err error
}

func newEvents() *events {
	return &events{byID: map[string]instance{}, changed: make(chan struct{})}
}

// listen receives events until ctx ends. done waits for the goroutine that it starts.
func (e *events) listen(ctx context.Context, cri criapi.RuntimeServiceClient) (done func(), err error) {
	stream, err := cri.GetContainerEvents(ctx, &criapi.GetEventsRequest{})
	if err != nil {
		return nil, fmt.Errorf("listen to the runtime: %w", err)
	}
	var receiver sync.WaitGroup
	receiver.Go(func() {
		for {
			event, err := stream.Recv()
			if err != nil {
				e.fail(fmt.Errorf("the runtime tells nothing more: %w", err))
				return
			}
			e.take(event)
		}
	})
	return receiver.Wait, nil
}

func (e *events) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
	e.wake()
}

// wake makes all waiters look again. The lock must be held.
func (e *events) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// take records an event.
func (e *events) take(event *criapi.ContainerEventResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range event.GetContainersStatuses() {
		known := e.byID[c.GetId()]
		known.id, known.pod = c.GetId(), c.GetLabels()[pod.LabelPodName]
		if at := c.GetStartedAt(); at > 0 {
			known.started = time.Unix(0, at)
		}
		if at := c.GetFinishedAt(); at > 0 {
			known.finished = time.Unix(0, at)
		}
		e.byID[known.id] = known
	}
	// A container that was removed at once has no status left.
	if event.GetContainerEventType() == criapi.ContainerEventType_CONTAINER_STOPPED_EVENT {
		if known, ok := e.byID[event.GetContainerId()]; ok && known.finished.IsZero() {
			known.finished = time.Unix(0, event.GetCreatedAt())
			e.byID[known.id] = known
		}
	}
	e.wake()
}

// forget removes all containers from e.
func (e *events) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.byID)
}

// wait waits until some container meets the condition.
func (e *events) wait(ctx context.Context, what string, wanted func(instance) bool) (instance, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		found, ok, changed, err := e.find(wanted)
		if ok || err != nil {
			return found, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return instance{}, context.Cause(ctx)
		case <-timeout.C:
			return instance{}, fmt.Errorf("%s: not within %s", what, patience)
		}
	}
}

func (e *events) find(wanted func(instance) bool) (found instance, ok bool, changed <-chan struct{}, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, known := range e.byID {
		if wanted(known) {
			return known, true, nil, nil
		}
	}
	return instance{}, false, e.changed, e.err
}

// running waits until a pod has a running container other than before.
func (e *events) running(ctx context.Context, pod, before string) (instance, error) {
	return e.wait(ctx, "a container of pod "+pod+" runs", func(i instance) bool {
		return i.pod == pod && i.id != before && !i.started.IsZero() && i.finished.IsZero()
	})
}

// allRunning waits until the containers of all pods run, and returns the time of the last start.
func (e *events) allRunning(ctx context.Context, pods []string) (all []instance, last time.Time, err error) {
	for _, pod := range pods {
		i, err := e.running(ctx, pod, "")
		if err != nil {
			return nil, time.Time{}, err
		}
		all = append(all, i)
		if i.started.After(last) {
			last = i.started
		}
	}
	return all, last, nil
}

// started waits for the start of a container.
func (e *events) started(ctx context.Context, id string) (time.Time, error) {
	i, err := e.wait(ctx, "container "+id+" runs", func(i instance) bool { return i.id == id && !i.started.IsZero() })
	return i.started, err
}

// stopped waits until a container has stopped.
func (e *events) stopped(ctx context.Context, id string) (time.Time, error) {
	i, err := e.wait(ctx, "container "+id+" stops", func(i instance) bool { return i.id == id && !i.finished.IsZero() })
	return i.finished, err
}

// allStopped waits until all containers have stopped, and returns the time of the last.
func (e *events) allStopped(ctx context.Context, all []instance) (last time.Time, err error) {
	for _, i := range all {
		at, err := e.stopped(ctx, i.id)
		if err != nil {
			return time.Time{}, err
		}
		if at.After(last) {
			last = at
		}
	}
	return last, nil
}
