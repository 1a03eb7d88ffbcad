package rollout

import (
	"context"
	"slices"
	"strings"
	"time"
)

// due is what came up while a load waited for its budget, or kept it from going on.
// Most of it has the load given up and begun anew.
type due struct {
	// order is one that is to be carried out at once.
	order *command
	// asked want the directory read, which the load under way did before.
	asked []command
	// late is why a load waits for long while no set is in force: the last good one is
	// to be brought back first.
	late error
	// lost: that was tried to no effect.
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

// tellLate tells those who wait for a first set why there is none. What was refused
// before is said still.
func (r *reloader) tellLate(reason error) {
	if was := r.standing.reason(); was == nil || strings.HasPrefix(was.Error(), notYet) {
		r.standing.refuse(reason, r.cfg.Now())
	}
	r.tried()
}

// take takes an order while a load waits. One that only wants the directory read
// joins the load. Otherwise a client that sends many of them would keep the load from
// its end.
func (r *reloader) take(x command) {
	if x.do == nil {
		r.due.asked = append(present(r.due.asked), x)
		return
	}
	r.due.order = &x
}

// urgent reports whether there is something that must not wait for a load. With every
// listing what the machine kept from coming back is tried once more.
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

// turn looks at the directory, answers those who wait for that, does what has come
// up meanwhile, and says when to look again.
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

// execute carries an order out, if anybody still waits for it.
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

// answer returns those who wait for a look what came of it.
func (r *reloader) answer(err error) {
	for _, x := range r.asked {
		x.done <- err
	}
	r.asked = nil
}

// leave answers everybody, as the reloader ends.
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
