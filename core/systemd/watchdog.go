package systemd

import (
	"context"
	"log/slog"
	"time"
)

const (
	// startLook is how often it is looked whether the agent has started, statusLook
	// how often how it is.
	startLook  = 50 * time.Millisecond
	statusLook = 2 * time.Second
	// startSigns is how often a start that takes long sends a sign of life, startGrace
	// how long each one puts its end off.
	startSigns = 5 * time.Second
	startGrace = 30 * time.Second
	// catchUp is how long the sync loop may take to go on after it waited for the
	// runtime, several times what it sleeps.
	catchUp = 30 * time.Second
)

// Watchdog tells systemd when the agent has started, how it is, and that it lives.
// It does not speak for an agent whose sync loop hangs, which systemd then starts
// anew. That the runtime is away is no reason: no start of the agent brings it back.
type Watchdog struct {
	// Notify may be nil: then nothing is sent.
	Notify *Notifier
	// Stuck says why the sync loop counts as hanging. It waits while one of Health
	// says that the runtime cannot be used.
	Stuck  func() error
	Health []func() error
	// Starting says what the agent still waits for before it does its work, nil once
	// that is nothing.
	Starting func() error
	// Status is for people, while all is well.
	Status func() string
	Log    *slog.Logger

	// waited is when the loop last had a reason to wait.
	waited time.Time
	// hangs and deaf: that was logged.
	hangs, deaf bool
}

// Run works until ctx ends, and then says that the agent ends. It is started last
// and stopped first.
func (w *Watchdog) Run(ctx context.Context) error {
	defer func() { w.tell(w.Notify.stopping("Stopping: calls to the runtime finish, pods run on")) }()
	if w.Notify == nil {
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
func (w *Watchdog) every() time.Duration {
	if !w.Notify.isReady() {
		return startSigns
	}
	return w.Notify.interval / 4
}

// pause is how long until the next look.
func (w *Watchdog) pause() time.Duration {
	if !w.Notify.isReady() {
		return startLook
	}
	if w.Notify.interval > 0 {
		return min(statusLook, w.every())
	}
	return statusLook
}

// look tells what has changed, and what was not heard.
func (w *Watchdog) look() {
	trouble := w.trouble()
	if !w.Notify.isReady() {
		if waits := w.Starting(); waits != nil {
			w.tell(w.Notify.says("Starting: " + waits.Error()))
			return
		}
		w.tell(w.Notify.Ready(w.words(trouble)))
		return
	}
	err := w.Notify.retell()
	if err == nil {
		err = w.Notify.says(w.words(trouble))
	}
	w.tell(err)
}

func (w *Watchdog) words(trouble error) string {
	if trouble != nil {
		return "Pods run on, and nothing is changed: " + trouble.Error()
	}
	return w.Status()
}

// trouble is why the sync loop has to wait, nil where it need not.
func (w *Watchdog) trouble() error {
	for _, check := range w.Health {
		if err := check(); err != nil {
			w.waited = time.Now()
			return err
		}
	}
	return nil
}

// sign sends a sign of life, unless the sync loop hangs.
func (w *Watchdog) sign() {
	if err := w.Stuck(); err != nil && time.Since(w.waited) > catchUp {
		if !w.hangs {
			w.hangs = true
			w.Log.Error("the watchdog is not notified any more; systemd may restart the agent, pods keep running", "err", err)
		}
		return
	}
	if w.hangs {
		w.hangs = false
		w.Log.Info("the watchdog is notified again")
	}
	w.tell(w.Notify.alive(startGrace))
}

// tell logs, once, that systemd cannot be told anything.
func (w *Watchdog) tell(err error) {
	if err != nil && !w.deaf {
		w.Log.Warn("systemd is not notified of the agent's state", "err", err)
	}
	w.deaf = err != nil
}
