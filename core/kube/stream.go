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

// A watch that lasts less than shortWatch and has no events is of no use. Of
// tooManyShort in a row one tells; a server that is being ended has one.
const (
	shortWatch   = time.Second
	tooManyShort = 2
)

var errShortWatch = errors.New("ends every watch at once; check what is between this node and it")

// stream is a watch that reports how it ends. It never holds more than one
// event, so that a reader that is slow slows down the server.
type stream struct {
	inner watch.Interface
	// body is what the events are read from; report takes errors; short counts
	// the watches in a row that were of no use, nil for one that never began.
	body   *limitedBody
	report func(error)
	short  *atomic.Int32

	events chan watch.Event
	done   chan struct{}
	stop   sync.Once
}

// ResultChan returns the events. It is closed when there are no more.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop ends the watch.
func (s *stream) Stop() { s.stop.Do(func() { close(s.done) }) }

// pass hands the events on until the watch ends or is stopped.
func (s *stream) pass() {
	began, empty := time.Now(), true
	defer func() {
		s.inner.Stop()
		for range s.inner.ResultChan() {
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

// streamError is the error of an event: the server's, or what kept the client
// from reading on.
func streamError(object runtime.Object) error {
	err := apierrors.FromObject(object)
	if cause, ok := apierrors.StatusCause(err, "ClientWatchDecoding"); ok {
		return errors.New("the watch broke off: " + cause.Message)
	}
	return err
}
