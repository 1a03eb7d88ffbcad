package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// here is the place after an instruction.
func (p *planning) here(in *module.Instruction) *place {
	return &place{in.Offset + len(in.Raw), p.current.fuel, p.current.touches}
}

// split cuts the current block at a place within it. Ifs that began before are cut
// already.
func (p *planning) split(at place) {
	whole := p.current
	p.current.fuel, p.current.touches = at.fuel, at.touches
	if whole.back != nil && whole.back.at > at.at {
		p.current.back = nil
	} else {
		whole.back = nil
	}
	p.finish()
	p.begin(at.at)
	p.current.fuel, p.current.touches = whole.fuel-at.fuel, whole.touches-at.touches
	p.current.back = whole.back.from(at)
	for i := range p.opened {
		o := &p.opened[i]
		o.short, o.other = o.short.from(at), o.other.from(at)
	}
}

// from is the same place, nil for none, in a block that begins at another one of
// its own.
func (l *place) from(begin place) *place {
	if l == nil {
		return nil
	}
	return &place{l.at, l.fuel - begin.fuel, l.touches - begin.touches}
}

// cutIfs cuts the open ifs that began before a place where another block begins.
func (p *planning) cutIfs(before int) {
	for i := range p.opened {
		if o := &p.opened[i]; o.short != nil && o.short.at <= before {
			p.cutIf(o)
		}
	}
}

// outgrow cuts the open ifs that are not short.
func (p *planning) outgrow() {
	for i := range p.opened {
		if o := &p.opened[i]; o.short != nil && p.current.fuel-o.short.fuel > shortIf {
			p.cutIf(o)
		}
	}
}

// cutIf cuts an open if where it begins, and its else.
func (p *planning) cutIf(o *opened) {
	at := *o.short
	o.short = nil
	p.split(at)
	o.before = p.since
	if o.other != nil {
		other := *o.other
		o.other = nil
		p.split(other)
		p.elseOf(o)
	}
}

// elseOf is for the begin of an else, behind the block before it.
func (p *planning) elseOf(o *opened) {
	o.ways.add(p.since)
	o.kind, p.since = module.OpElse, o.before
}
