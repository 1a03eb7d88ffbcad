package pleg

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// want is that a pod be inspected.
type want struct {
	// newer is the time the inspection has to be newer than, asked that somebody
	// asked for it.
	newer time.Time
	asked bool
	// event is true where the runtime told of a change, told when the first
	// such change was, zero where that does not count.
	event bool
	told  time.Time
	// later is true where a look a moment later is enough, leaving where one
	// then is needed too.
	later, leaving bool
}

// wants are the pods to be inspected. Anybody adds, without ever having to
// wait; Run takes. There is one for each pod, so nothing has to be dropped.
type wants struct {
	mu    sync.Mutex
	byUID map[types.UID]want
	// byID are those of which only the ID of a container is known.
	byID map[string]want
	// wake has room for one word; nobody closes it.
	wake chan struct{}
}

func newWants() *wants {
	return &wants{byUID: map[types.UID]want{}, byID: map[string]want{}, wake: make(chan struct{}, 1)}
}

// inspection asks for one that is newer than t.
func (w *wants) inspection(uid types.UID, t time.Time) {
	w.mu.Lock()
	w.byUID[uid] = w.byUID[uid].and(want{newer: t, asked: true})
	w.mu.Unlock()
	w.ring()
}

// change takes in what the runtime tells, now.
func (w *wants) change(c status.PodChange, now time.Time) {
	more := want{
		newer: now, event: true, told: c.At,
		later: c.Kind == status.ChangeMade, leaving: c.Kind == status.ChangeLeaving,
	}
	w.mu.Lock()
	if c.UID != "" {
		w.byUID[c.UID] = w.byUID[c.UID].and(more)
	} else {
		w.byID[c.ID] = w.byID[c.ID].and(more)
	}
	w.mu.Unlock()
	w.ring()
}

func (w *wants) ring() {
	select {
	case w.wake <- struct{}{}:
	default: // it has been told
	}
}

// take empties it.
func (w *wants) take() (byUID map[types.UID]want, byID map[string]want) {
	w.mu.Lock()
	defer w.mu.Unlock()
	byUID, byID = w.byUID, w.byID
	w.byUID, w.byID = map[types.UID]want{}, map[string]want{}
	return byUID, byID
}

// and is both. The zero want is none.
func (w want) and(o want) want {
	if w == (want{}) {
		return o
	}
	return want{
		newer: later(w.newer, o.newer), asked: w.asked || o.asked, event: w.event || o.event, told: earlier(w.told, o.told),
		later: w.later && o.later, leaving: w.leaving || o.leaving,
	}
}
