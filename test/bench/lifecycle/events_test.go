package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// told returns an event about a container of pod web.
func told(kind criapi.ContainerEventType, id string, started, finished int64) *criapi.ContainerEventResponse {
	return &criapi.ContainerEventResponse{
		ContainerId: id, ContainerEventType: kind, CreatedAt: 99,
		ContainersStatuses: []*criapi.ContainerStatus{{
			Id: id, Labels: map[string]string{"io.kubernetes.pod.name": "web"}, StartedAt: started, FinishedAt: finished,
		}},
	}
}

const (
	hasStarted = criapi.ContainerEventType_CONTAINER_STARTED_EVENT
	hasStopped = criapi.ContainerEventType_CONTAINER_STOPPED_EVENT
)

func TestTimesAreThoseTheRuntimeHasNoted(t *testing.T) {
	t.Parallel()
	e := newEvents()
	e.take(told(hasStarted, "one", 10, 0))
	runs, err := e.running(t.Context(), "web", "")
	if err != nil || runs.id != "one" || runs.started.UnixNano() != 10 {
		t.Fatalf("%+v, %v", runs, err)
	}
	e.take(told(hasStopped, "one", 10, 20))
	if at, err := e.stopped(t.Context(), "one"); err != nil || at.UnixNano() != 20 {
		t.Errorf("%v, %v", at, err)
	}
}

func TestAContainerThatIsGoneAlreadyStoppedWhenTheEventWasMade(t *testing.T) {
	t.Parallel()
	e := newEvents()
	e.take(told(hasStarted, "one", 10, 0))
	e.take(&criapi.ContainerEventResponse{ContainerId: "one", ContainerEventType: hasStopped, CreatedAt: 30})
	if at, err := e.stopped(t.Context(), "one"); err != nil || at.UnixNano() != 30 {
		t.Errorf("%v, %v", at, err)
	}
}

func TestTheNextContainerIsNotTheOneBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEvents()
		e.take(told(hasStarted, "one", 10, 0))
		found := make(chan instance)
		go func() {
			runs, err := e.running(t.Context(), "web", "one")
			if err != nil {
				t.Error(err)
			}
			found <- runs
		}()
		synctest.Wait()
		e.take(told(hasStarted, "two", 40, 0))
		if runs := <-found; runs.id != "two" {
			t.Errorf("it is %+v", runs)
		}
	})
}

func TestTheLastStartAndTheLastEndCount(t *testing.T) {
	t.Parallel()
	e := newEvents()
	e.take(told(hasStarted, "one", 50, 0))
	other := told(hasStarted, "two", 10, 0)
	other.ContainersStatuses[0].Labels["io.kubernetes.pod.name"] = "other"
	e.take(other)
	all, last, err := e.allRunning(t.Context(), []string{"web", "other"})
	if err != nil || len(all) != 2 || last.UnixNano() != 50 {
		t.Fatalf("%+v, %v, %v", all, last, err)
	}
	e.take(told(hasStopped, "one", 50, 60))
	e.take(told(hasStopped, "two", 10, 70))
	if last, err := e.allStopped(t.Context(), all); err != nil || last.UnixNano() != 70 {
		t.Errorf("%v, %v", last, err)
	}
}

func TestAWaitEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during func(e *events, cancel context.CancelFunc)
		after  time.Duration
	}{
		"with the patience":                   {func(*events, context.CancelFunc) {}, patience},
		"with the context":                    {func(_ *events, cancel context.CancelFunc) { cancel() }, 0},
		"when the runtime tells nothing more": {func(e *events, _ context.CancelFunc) { e.fail(errors.New("away")) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEvents()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				ended := make(chan error)
				go func() {
					_, err := e.started(ctx, "one")
					ended <- err
				}()
				synctest.Wait()
				c.during(e, cancel)
				if err := <-ended; err == nil || time.Since(began) != c.after {
					t.Errorf("%v after %s", err, time.Since(began))
				}
			})
		})
	}
}
