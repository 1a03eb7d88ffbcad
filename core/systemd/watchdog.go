package systemd

import (
	"context"
	"log/slog"
	"time"
)

const (
	// startLook is the interval of checks whether the agent has started. statusLook is the interval of
	// checks of its state.
	startLook  = 50 * time.Millisecond
	statusLook = 2 * time.Second
	// startSigns is the interval of messages during a long start. startGrace is the time by which each
	// message extends the time limit of the start.
	startSigns = 5 * time.Second
	startGrace = 30 * time.Second
	// catchUp is the time for the sync loop to continue after it waited for the runtime. It is several
	// times the loop's longest sleep.
	catchUp = 30 * time.Second
)

// Watchdog notifies systemd when the agent has started, of its state, and that it is alive. It
// sends no watchdog message while the sync loop hangs, so that systemd restarts the agent. It does
// send messages while the runtime is unavailable, because a restart of the agent would not help.
type Watchdog struct {
	// Notify may be nil: then Watchdog sends nothing.
	Notify *Notifier
	// Stuck returns why the sync loop seems to hang. The loop also waits while one of Health reports
	// that the runtime cannot be used.
	Stuck  func() error
	Health []func() error
	// Starting returns what the agent waits for before it starts its work, nil if nothing.
	Starting func() error
	// Status returns the text for people if there is no problem.
	Status func() string
	Log    *slog.Logger

	// waited is the time when the loop last had a reason to wait.
	waited time.Time
	// hangs and deaf are set after the hang, or the failure to notify systemd, was logged.
	hangs, deaf bool
}

// Run works until ctx ends, and then reports that the agent ends. It must be started last and
// stopped first.
func (w *Watchdog) Run(ctx context.Context) error {
	defer func() { w.tell(w.Notify.stopping("Stopping: calls to the runtime finish, pods run on")) }()
	if w.Notify == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	w.waited = time.Now()
	look := time.NewTimer(0)
	defer look.Stop()
	var signed time.Time // the time of the last watchdog message
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

// every returns the time between two watchdog messages: three may be lost.
func (w *Watchdog) every() time.Duration {
	if !w.Notify.isReady() {
		return startSigns
	}
	return w.Notify.interval / 4
}

// pause returns the time until the next check.
func (w *Watchdog) pause() time.Duration {
	if !w.Notify.isReady() {
		return startLook
	}
	if w.Notify.interval > 0 {
		return min(statusLook, w.every())
	}
	return statusLook
}

// look reports changes, and repeats messages that failed.
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

// trouble returns why the sync loop must wait, nil if it need not.
func (w *Watchdog) trouble() error {
	for _, check := range w.Health {
		if err := check(); err != nil {
			w.waited = time.Now()
			return err
		}
	}
	return nil
}

// sign sends a watchdog message unless the sync loop hangs.
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

// tell logs once that systemd cannot be notified.
func (w *Watchdog) tell(err error) {
	if err != nil && !w.deaf {
		w.Log.Warn("systemd is not notified of the agent's state", "err", err)
	}
	w.deaf = err != nil
}
