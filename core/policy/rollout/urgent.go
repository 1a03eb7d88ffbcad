package rollout

import (
	"context"
	"slices"
	"strings"
	"time"
)

// due is what came up while a load waited for its budget. For most of it the load is given
// up and starts anew.
type due struct {
	// order is an order to execute at once, nil for none.
	order *command
	// asked are the orders to read the directory that came after the current load had read
	// it.
	asked []command
	// late says why a load waits for long while no set is in force: the last good set is to
	// be brought back first.
	late error
	// lost reports that this was tried without success.
	lost bool
}

// late logs that a load waits for long. If no set is in force, the last good one is
// brought back, or the callers that wait for a first one get the reason.
func (r *reloader) late(reason error) {
	r.cfg.Logger.Warn("loading policies waits", "directory", r.cfg.Dir, "why", reason)
	switch {
	case r.standing.current() != nil:
	case !r.due.lost && r.kept.another(""):
		r.due.late = reason
	default:
		r.tellLate(reason)
	}
}

// tellLate reports to the callers that wait for a first set why there is none. The reason
// of an earlier refusal stays.
func (r *reloader) tellLate(reason error) {
	if was := r.standing.reason(); was == nil || strings.HasPrefix(was.Error(), notYet) {
		r.standing.refuse(reason, r.cfg.Now())
	}
	r.tried()
}

// take accepts an order while a load waits. An order that only reads the directory does not
// interrupt the load: otherwise a client that sends many of them would keep the load from
// finishing.
func (r *reloader) take(x command) {
	if x.do == nil {
		r.due.asked = append(present(r.due.asked), x)
		return
	}
	r.due.order = &x
}

// urgent reports whether there is something that must not wait for a load. If a good set
// could not be brought back because of the machine, every listing tries again.
func (r *reloader) urgent(listed bool) bool {
	again := listed && r.kept.machine
	running := r.standing.current()
	if again && running == nil && r.due.late == nil {
		r.due.late = r.cfg.loads.waits()
	}
	if r.due.order != nil || r.due.late != nil {
		return true
	}
	if running == nil || running.Probation == nil {
		return false
	}
	how, _ := running.Probation.ended(r.cfg.Now())
	return how == failed && (again || !running.Probation.stays())
}

// turn reads the directory, answers the orders that wait for that, does what has come up in
// the meantime, and returns the delay before the next turn.
func (r *reloader) turn(ctx context.Context) time.Duration {
	next := r.poll(ctx)
	if next == ListPeriod && ctx.Err() == nil {
		r.loader.anew = false
		r.answer(r.standing.reason())
	}
	if r.catchUp(ctx) {
		return SettleTime
	}
	return next
}

// catchUp does what is due, and reports whether there was anything.
func (r *reloader) catchUp(ctx context.Context) (done bool) {
	if ctx.Err() != nil {
		return false
	}
	if reason := r.due.late; reason != nil {
		done, r.due.late = true, nil
		if r.standing.current() == nil && !r.bringBack(ctx, reason) {
			r.due.lost = true
			r.tellLate(reason)
		}
	}
	if x := r.due.order; x != nil {
		done, r.due.order = true, nil
		r.execute(ctx, *x)
	}
	for _, x := range r.due.asked {
		done = true
		r.execute(ctx, x)
	}
	r.due.asked = nil
	return r.checkProbation(ctx) || done
}

// execute executes an order if its caller still waits for it.
func (r *reloader) execute(ctx context.Context, x command) {
	if len(present([]command{x})) == 0 {
		return
	}
	if x.do != nil {
		if err := x.do(ctx); err != nil || !x.look {
			x.done <- err
			return
		}
	}
	r.acted = false
	r.settle.Rest()
	r.asked = append(present(r.asked), x)
}

// answer answers the orders that wait for a reading with its result.
func (r *reloader) answer(err error) {
	for _, x := range r.asked {
		x.done <- err
	}
	r.asked = nil
}

// leave answers all orders when the reloader returns.
func (r *reloader) leave(err error) {
	r.asked = append(r.asked, r.due.asked...)
	if r.due.order != nil {
		r.asked = append(r.asked, *r.due.order)
	}
	r.due = due{}
	r.answer(err)
}

// present removes the orders whose caller no longer waits for the answer.
func present(orders []command) []command {
	return slices.DeleteFunc(orders, func(x command) bool {
		select {
		case <-x.gone:
			return true
		default:
			return false
		}
	})
}
