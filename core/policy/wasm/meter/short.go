package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// here returns the place after an instruction.
func (p *planning) here(in *module.Instruction) place {
	return place{in.Offset + len(in.Raw), p.base.fuel + uint64(p.current.fuel), p.base.touches + uint64(p.current.touches)}
}

// split divides the current block at a place within it. Ifs that began before that
// place must already be blocks of the plan.
func (p *planning) split(at place) {
	whole := p.current
	fuel, touches := uint32(at.fuel-p.base.fuel), uint32(at.touches-p.base.touches)
	p.current.fuel, p.current.touches = fuel, touches
	if whole.hasBack && whole.back.at > at.at {
		p.current.hasBack = false
	} else {
		whole.hasBack = false
	}
	p.finish()
	p.begin(at.at)
	p.current.fuel, p.current.touches = whole.fuel-fuel, whole.touches-touches
	p.current.back, p.current.hasBack = whole.back, whole.hasBack
}

// cutIfs makes blocks of the open ifs that began before a place at which another
// block begins.
func (p *planning) cutIfs(before int) {
	for len(p.shorts) > 0 && p.opened[p.shorts[0]].short.at <= before {
		p.cutIf()
	}
}

// outgrow makes blocks of the open ifs that are too long to be short.
func (p *planning) outgrow() {
	now := p.base.fuel + uint64(p.current.fuel)
	for len(p.shorts) > 0 && now-p.opened[p.shorts[0]].short.fuel > shortIf {
		p.cutIf()
	}
}

// cutIf makes blocks of the outermost open if that is not a block yet, and of its
// else.
func (p *planning) cutIf() {
	o := &p.opened[p.shorts[0]]
	p.shorts = p.shorts[1:]
	o.isShort = false
	p.split(o.short)
	o.before = p.since
	if o.hasOther {
		o.hasOther = false
		p.split(o.other)
		p.elseOf(o)
	}
}

// elseOf is called at the begin of an else, after the block before it was finished.
func (p *planning) elseOf(o *opened) {
	o.ways.add(p.since)
	o.kind, p.since = module.OpElse, o.before
}
