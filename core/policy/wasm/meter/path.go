package meter

import (
	"context"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// path is the most that a function may have done since the last check of the fuel,
// on any way to a place in it.
type path struct {
	fuel, touches uint32
	// back reports whether a call that may be deep has returned. after is the fuel
	// that was taken since it returned.
	back  bool
	after uint32
}

// ways combines all ways that lead to one place.
type ways struct {
	any  bool
	most path
}

func (w *ways) add(p path) {
	w.any = true
	w.most.fuel, w.most.touches = max(w.most.fuel, p.fuel), max(w.most.touches, p.touches)
	w.most.back, w.most.after = w.most.back || p.back, max(w.most.after, p.after)
}

// overdue reports whether the fuel must be checked when the current block begins.
func (p *planning) overdue() bool {
	b := &p.current
	return p.since.fuel+b.fuel > uncheckedFuel || p.since.touches+b.touches > uncheckedTouches ||
		p.since.back && (b.touches > 0 || p.since.after+b.fuel > uncheckedReturn)
}

// now returns what was done since the last check, including the current block as
// far as it has been read.
func (p *planning) now() path {
	b := &p.current
	done := p.since
	if b.checked || p.overdue() {
		done = path{}
	}
	done.fuel += b.fuel
	done.touches += b.touches
	done.after += b.fuel
	if b.hasBack {
		done.back, done.after = true, p.sinceBack()
	}
	return done
}

// comeBack ends the current block after a call that may be deep, as soon as more
// than a little follows the call. Otherwise what follows would be charged before
// the call, and the fuel would not be checked when it is executed.
func (p *planning) comeBack() {
	b := &p.current
	if !b.hasBack || p.base.touches+uint64(b.touches) == b.back.touches && p.sinceBack() <= uncheckedReturn {
		return
	}
	p.cutIfs(b.back.at)
	p.split(b.back)
}

// sinceBack returns the fuel that the current block takes after the last call that
// may be deep.
func (p *planning) sinceBack() uint32 {
	return uint32(p.base.fuel + uint64(p.current.fuel) - p.current.back.fuel)
}

// branch records a branch as a way to its targets. Branches to a loop are not
// recorded, because a loop begins with a check.
func (p *planning) branch(in *module.Instruction) {
	if p.dead {
		return
	}
	lead := func(label uint32) {
		if to := &p.opened[len(p.opened)-1-int(label)]; to.kind != module.OpLoop {
			to.ways.add(p.now())
		}
	}
	switch in.Op {
	case module.OpBr, module.OpBrIf:
		lead(in.Index)
	case module.OpBrTable:
		for _, label := range in.Labels {
			lead(label)
		}
	}
}

// join sets what was done since the last check to the most of all ways that lead to
// the place after a block of the WebAssembly code.
func (p *planning) join(closed *opened) {
	if !p.dead {
		closed.ways.add(p.since)
	}
	if closed.kind == module.OpIf {
		closed.ways.add(closed.before)
	}
	p.since = closed.ways.most
}

// findDeep finds the functions that call others.
func (w *rewriter) findDeep(ctx context.Context) error {
	w.deep = make([]bool, len(w.m.Bodies))
	var in module.Instruction
	for i := range w.deep {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		code := w.read(i)
		for !w.deep[i] && code.Next(&in) {
			w.deep[i] = in.Op == module.OpCall || in.Op == module.OpCallIndirect
		}
		if err := code.Err(); err != nil {
			return err
		}
	}
	return nil
}

// mayBeDeep reports whether an instruction calls a function that may itself call
// others.
func (w *rewriter) mayBeDeep(in *module.Instruction) bool {
	if in.Op == module.OpCall {
		i := int(in.Index) - w.m.ImportedFunctions
		return i >= 0 && w.deep[i]
	}
	return in.Op == module.OpCallIndirect
}
