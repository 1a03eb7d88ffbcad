package kube

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// A watch that lasts less than shortWatch and has no events is useless. tooManyShort of them in a
// row are reported as an error; a single one may occur when a server shuts down.
const (
	shortWatch   = time.Second
	tooManyShort = 2
	// clockDrift is by how much a server may measure the length of a watch differently.
	clockDrift = 500 * time.Millisecond
)

var errShortWatch = errors.New("ends every watch at once; check what is between this node and it")

// stream is a watch that reports how it ends. It holds at most one event, so that a slow reader
// slows the server down.
type stream struct {
	inner watch.Interface
	// body is the source of the events. report is called with errors. sent is when the watch of the
	// requested length was requested; early is called if it ends sooner. short counts consecutive
	// useless watches; it is nil for a watch that never started.
	body   *limitedBody
	report func(error)
	sent   time.Time
	length time.Duration
	early  func()
	short  *atomic.Int32

	events chan watch.Event
	done   chan struct{}
	stop   sync.Once
}

// ResultChan returns the events. It is closed when there are no more.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop ends the watch.
func (s *stream) Stop() { s.stop.Do(func() { close(s.done) }) }

// pass passes events on until the watch ends or is stopped.
func (s *stream) pass() {
	began, empty := time.Now(), true
	defer func() {
		s.inner.Stop()
		for range s.inner.ResultChan() {
		}
		if time.Since(s.sent) < s.length-clockDrift {
			s.early() // before the reflector can start the next watch
		}
		close(s.events)
	}()
	for {
		select {
		case <-s.done:
			return
		case e, more := <-s.inner.ResultChan():
			if !more {
				if s.short == nil {
					return
				}
				if !empty || time.Since(began) >= shortWatch {
					s.short.Store(0)
				} else if s.short.Add(1) >= tooManyShort {
					s.report(errShortWatch)
				}
				return
			}
			empty = false
			s.body.refill()
			if e.Type == watch.Error {
				s.report(streamError(e.Object))
			}
			select {
			case s.events <- e:
			case <-s.done:
				return
			}
		}
	}
}

// streamError returns the error of an event: the server's, or the error that interrupted reading.
func streamError(object runtime.Object) error {
	err := apierrors.FromObject(object)
	if cause, ok := apierrors.StatusCause(err, "ClientWatchDecoding"); ok {
		return errors.New("the watch broke off: " + cause.Message)
	}
	return err
}
