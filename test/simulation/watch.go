package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// watcher is a stream of events to the agent. It is guarded by the world's lock.
type watcher struct {
	events chan status.PodChange
	// broken is closed when the stream breaks; lost says that it has.
	broken chan struct{}
	lost   bool
}

// maxBehind is how many events wait for a reader before the stream breaks.
const maxBehind = 500

// WatchPods implements pleg.Runtime. Like containerd, the runtime listens to itself
// only some time after it was asked.
func (l *link) WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	w := l.world
	if !w.set.events {
		return status.ErrNoEvents
	}
	if err := l.pass(ctx, callWatch, ""); err != nil {
		return err
	}
	opened()
	w.mu.Lock()
	lazy := w.between("watch begins", 0, 2*time.Second)
	w.mu.Unlock()
	if err := l.sleep(ctx, lazy); err != nil {
		return err
	}
	stream := &watcher{events: make(chan status.PodChange, maxBehind), broken: make(chan struct{})}
	w.mu.Lock()
	w.runtime.watcher = stream
	w.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.gone:
			return errGone
		case <-stream.broken:
			return errTrouble
		case e := <-stream.events:
			w.mu.Lock()
			lag := w.lag("watch")
			w.mu.Unlock()
			if err := l.sleep(ctx, lag); err != nil {
				return err
			}
			changed(e)
		}
	}
}

// happened sends a change to the watch, unless that is lost or silent. mu is held.
func (w *world) happened(uid types.UID, id string, kind status.ChangeKind) {
	stream := w.runtime.watcher
	if stream == nil || stream.lost {
		return
	}
	if t := w.runtime.troubles[callWatch]; t.how == hang && time.Now().Before(t.until) {
		return // the stream is silent
	}
	select {
	case stream.events <- status.PodChange{UID: uid, ID: id, Kind: kind, At: w.clock.wall()}:
	default:
		w.cutWatch()
	}
}

// cutWatch breaks the stream of events. mu is held.
func (w *world) cutWatch() {
	if stream := w.runtime.watcher; stream != nil && !stream.lost {
		stream.lost = true
		close(stream.broken)
	}
}
