package pleg

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

var errBroken = errors.New("broken")

// eventStream is a stream of events in the hands of a test.
type eventStream struct {
	changes chan status.PodChange
	breaks  chan error

	mu     sync.Mutex
	refuse error
	opens  []time.Time // when it was asked for
}

func newEventStream(f *fakeRuntime) *eventStream {
	s := &eventStream{changes: make(chan status.PodChange), breaks: make(chan error)}
	f.watch = s.watch
	return s
}

func (s *eventStream) watch(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	s.mu.Lock()
	s.opens = append(s.opens, time.Now())
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	opened()
	for {
		select {
		case c := <-s.changes:
			changed(c)
		case err := <-s.breaks:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *eventStream) refuses(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// opened is after how many whole seconds from begin it was asked for.
func (s *eventStream) opened(begin time.Time) (seconds []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.opens {
		seconds = append(seconds, int(at.Sub(begin)/time.Second))
	}
	return seconds
}

// tell tells of a change that shows.
func (s *eventStream) tell(uid types.UID) {
	s.changes <- status.PodChange{UID: uid, Kind: status.ChangeDone, At: time.Now()}
}

// follow starts a generator that follows the events of f, and waits until it
// relies on them. Its events so far are drained.
func follow(t *testing.T, f *fakeRuntime, cfg Config) (*bench, *eventStream) {
	t.Helper()
	s := newEventStream(f)
	b := start(t, f, cfg)
	time.Sleep(3 * time.Second)
	b.told()
	if !b.Streaming() {
		t.Fatal("after 3 s the events are not relied on")
	}
	return b, s
}

// wantLists says how many lists come in a time.
func wantLists(t *testing.T, f *fakeRuntime, in time.Duration, want int) {
	t.Helper()
	before := f.listed()
	time.Sleep(in)
	synctest.Wait()
	if n := f.listed() - before; n != want {
		t.Errorf("%d lists in %s, want %d", n, in, want)
	}
}
