package workers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// The calls whose behaviour a history can set, and the ways they can behave.
const (
	callSetUp = "set up"
	callStop  = "stop"
	callClean = "clean up"

	modeWorks = "works"
	modeFails = "fails"
	modeHangs = "hangs"
)

var errScripted = errors.New("the history wants this call to fail")

// world is the node of one side: pods of one container each. Both sides have
// one, and the same history makes the same calls succeed, fail and hang in it.
type world struct {
	mu   sync.Mutex
	pods map[types.UID]*worldPod
	// changed, if not nil, is called on each change, with the lock held.
	changed func(types.UID, *worldPod)
}

type worldPod struct {
	name string
	// sandbox: its sandbox is ready. runs: its container runs. dead: its container has exited.
	sandbox, runs, dead bool
	// number is the number of its newest sandbox and container.
	number int
	calls  map[string]*call

	setUp bool
	grace int64
	mark  string
}

// call is the behaviour of one call; changed is closed when the behaviour changes.
type call struct {
	mode    string
	changed chan struct{}
	hanging int
}

func newWorld() *world { return &world{pods: map[types.UID]*worldPod{}} }

// pod returns a pod; the lock must be held.
func (w *world) pod(uid types.UID) *worldPod {
	p, ok := w.pods[uid]
	if !ok {
		p = &worldPod{calls: map[string]*call{}}
		for _, name := range []string{callSetUp, callStop, callClean} {
			p.calls[name] = &call{mode: modeWorks, changed: make(chan struct{})}
		}
		w.pods[uid] = p
	}
	return p
}

// edit changes a pod.
func (w *world) edit(uid types.UID, change func(*worldPod)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pod(uid)
	change(p)
	if w.changed != nil {
		w.changed(uid, p)
	}
}

// read returns a copy of a pod.
func (w *world) read(uid types.UID) worldPod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.pod(uid)
}

// call succeeds, fails or hangs as the history says.
func (w *world) call(ctx context.Context, uid types.UID, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.pod(uid).calls[name]
	for c.mode == modeHangs {
		changed := c.changed
		c.hanging++
		w.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		w.mu.Lock()
		c.hanging--
		if err != nil {
			return err
		}
	}
	if c.mode == modeFails {
		return errScripted
	}
	return nil
}

// set sets how a call behaves from now on, also a call that hangs.
func (w *world) set(uid types.UID, name, mode string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.pod(uid).calls[name]
	c.mode = mode
	close(c.changed)
	c.changed = make(chan struct{})
}

// hangs returns the call of a pod that hangs, empty for none.
func (w *world) hangs(uid types.UID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, c := range w.pod(uid).calls {
		if c.hanging > 0 {
			return name
		}
	}
	return ""
}

// release makes all calls succeed.
func (w *world) release() {
	w.mu.Lock()
	var uids []types.UID
	for uid := range w.pods {
		uids = append(uids, uid)
	}
	w.mu.Unlock()
	for _, uid := range uids {
		for _, name := range []string{callSetUp, callStop, callClean} {
			w.set(uid, name, modeWorks)
		}
	}
}

// tryToSetUp records and simulates the set-up before a pod starts.
func (w *world) tryToSetUp(ctx context.Context, uid types.UID) error {
	w.edit(uid, func(p *worldPod) { p.setUp = true })
	return w.call(ctx, uid, callSetUp)
}

// start starts a pod that has not run yet.
func (w *world) start(uid types.UID, name string) {
	w.edit(uid, func(p *worldPod) {
		if !p.runs && !p.dead {
			p.name, p.sandbox, p.runs = name, true, true
			p.number++
		}
	})
}

// stop stops the container within grace; mark is the text in the status meanwhile.
func (w *world) stop(ctx context.Context, uid types.UID, grace int64, mark string) error {
	w.edit(uid, func(p *worldPod) { p.grace, p.mark = grace, mark })
	if err := w.call(ctx, uid, callStop); err != nil {
		return err
	}
	w.exit(uid)
	return nil
}

// exit makes the container exit if it runs.
func (w *world) exit(uid types.UID) {
	w.edit(uid, func(p *worldPod) {
		if p.runs {
			p.runs, p.dead = false, true
		}
	})
}

// stopSandbox stops the sandbox.
func (w *world) stopSandbox(uid types.UID) {
	w.edit(uid, func(p *worldPod) { p.sandbox = false })
}

// forget removes the sandbox and the container of a pod.
func (w *world) forget(uid types.UID) {
	w.edit(uid, func(p *worldPod) { p.sandbox, p.runs, p.dead = false, false, false })
}

// look returns what was done to a pod since the last look.
func (w *world) look(uid types.UID) Seen {
	hangs := w.hangs(uid)
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pod(uid)
	s := Seen{Runs: p.runs, Sandbox: p.sandbox, SetUp: p.setUp, Hangs: hangs, Grace: p.grace, Mark: p.mark}
	p.setUp = false
	return s
}

func (p *worldPod) sandboxID(uid types.UID) string { return fmt.Sprintf("s-%s-%d", uid, p.number) }

func (p *worldPod) containerID(uid types.UID) string { return fmt.Sprintf("c-%s-%d", uid, p.number) }
