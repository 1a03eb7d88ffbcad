package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// startLook is how often it is looked whether the agent has started, statusLook
	// how often how it is.
	startLook  = 50 * time.Millisecond
	statusLook = 2 * time.Second
	// startSigns is how often a start that takes long gives a sign of life, startGrace
	// how long each one puts its end off.
	startSigns = 5 * time.Second
	startGrace = 30 * time.Second
	// catchUp is how long the sync loop may take to go on after it waited for the
	// runtime, several times what it sleeps.
	catchUp = 30 * time.Second
)

// watchdog tells systemd when the agent has started, how it is, and that it lives.
// It does not speak for an agent whose sync loop hangs, which systemd then starts
// anew. That the runtime is away is no reason: no start of the agent brings it back.
type watchdog struct {
	notify *notifier
	// stuck says why the sync loop counts as hanging. It waits while one of health
	// says that the runtime cannot be used.
	stuck  func() error
	health []func() error
	// starting says what the agent still waits for before it does its work, nil once
	// that is nothing.
	starting func() error
	// status is for people, while all is well.
	status func() string
	log    *slog.Logger

	// waited is when the loop last had a reason to wait.
	waited time.Time
	// hangs and deaf: that was logged.
	hangs, deaf bool
}

// watchdog is the agent's.
func (a *Agent) watchdog() *watchdog {
	return &watchdog{
		notify: a.notify, stuck: a.loop.Healthy, health: a.runtimeChecks(), starting: a.starting, status: a.statusLine, log: a.log,
	}
}

// runtimeChecks say why the sync loop waits for the runtime.
func (a *Agent) runtimeChecks() []func() error {
	return []func() error{a.health.Healthy, a.pleg.Healthy}
}

// run works until ctx ends, and then says that the agent ends. It is started last
// and stopped first.
func (w *watchdog) run(ctx context.Context) error {
	defer func() { w.tell(w.notify.stopping("Stopping: calls to the runtime finish, pods run on")) }()
	if w.notify == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	w.waited = time.Now()
	look := time.NewTimer(0)
	defer look.Stop()
	var signed time.Time // the last sign of life
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		w.look()
		if now, every := time.Now(), w.every(); signed.IsZero() || now.Sub(signed) >= every {
			w.sign()
			signed = now
		}
		look.Reset(w.pause())
	}
}

// every is the time between two signs of life: three may be lost.
func (w *watchdog) every() time.Duration {
	if !w.notify.isReady() {
		return startSigns
	}
	return w.notify.interval / 4
}

// pause is how long until the next look.
func (w *watchdog) pause() time.Duration {
	if !w.notify.isReady() {
		return startLook
	}
	if w.notify.interval > 0 {
		return min(statusLook, w.every())
	}
	return statusLook
}

// look tells what has changed, and what was not heard.
func (w *watchdog) look() {
	trouble := w.trouble()
	if !w.notify.isReady() {
		if waits := w.starting(); waits != nil {
			w.tell(w.notify.says("Starting: " + waits.Error()))
			return
		}
		w.tell(w.notify.ready(w.words(trouble)))
		return
	}
	err := w.notify.retell()
	if err == nil {
		err = w.notify.says(w.words(trouble))
	}
	w.tell(err)
}

func (w *watchdog) words(trouble error) string {
	if trouble != nil {
		return "Pods run on, and nothing is changed: " + trouble.Error()
	}
	return w.status()
}

// trouble is why the sync loop has to wait, nil where it need not.
func (w *watchdog) trouble() error {
	for _, check := range w.health {
		if err := check(); err != nil {
			w.waited = time.Now()
			return err
		}
	}
	return nil
}

// sign gives a sign of life, unless the sync loop hangs.
func (w *watchdog) sign() {
	if err := w.stuck(); err != nil && time.Since(w.waited) > catchUp {
		if !w.hangs {
			w.hangs = true
			w.log.Error("the watchdog gets no sign of life any more; systemd may start the agent anew, pods run on", "err", err)
		}
		return
	}
	if w.hangs {
		w.hangs = false
		w.log.Info("the watchdog gets signs of life again")
	}
	w.tell(w.notify.alive(startGrace))
}

// tell logs, once, that systemd cannot be told anything.
func (w *watchdog) tell(err error) {
	if err != nil && !w.deaf {
		w.log.Warn("systemd is not told how the agent is", "err", err)
	}
	w.deaf = err != nil
}

// starting says what the agent still waits for before it does its work: the runtime,
// the first list of what runs, and that it is known which of that was admitted.
func (a *Agent) starting() error {
	for _, check := range a.runtimeChecks() {
		if err := check(); err != nil {
			return err
		}
	}
	if a.adoption.unlisted() {
		return errTakingOver
	}
	return nil
}

var errTakingOver = errors.New("what runs is being taken over")

// statusLine is what people read while all is well.
func (a *Agent) statusLine() string {
	return fmt.Sprintf("Node %s: %d pods", a.node, len(a.mux.Pods()))
}
