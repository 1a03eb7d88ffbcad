package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/api"
)

// ask calls a hook with the record of a question: m for the hook merge, r for all
// others. The result is stored in s. The error is a *Failure, ErrNotReady, or the
// cause of ctx. The call stops when ctx is done.
func (p *Plugin) ask(ctx context.Context, hook Hook, r *Request, m *MergeRequest, s *said) error {
	var tenant string
	if m != nil {
		tenant = m.Tenant
	} else {
		tenant = r.Tenant
	}
	if !p.pool.mayAsk(tenant) && !rehearses(ctx) {
		return ErrNotReady
	}
	return p.askFor(ctx, tenant, p.fuel, hook, r, m, s)
}

// askFor calls a hook as ask does, charges the tenant, and bounds the call by the
// given fuel.
func (p *Plugin) askFor(ctx context.Context, tenant string, fuel int64, hook Hook, r *Request, m *MergeRequest, s *said) (err error) {
	i, err := p.take(ctx)
	if err != nil {
		return err
	}
	i.tenant = tenant
	i.tank.yields, i.tank.beside = 0, 0
	again, rehearsed, handed, made := false, rehearses(ctx), int64(0), i.made
	i.made = 0
	if rehearsed {
		i.doubt()
	}
	defer func() {
		if r := recover(); r != nil {
			err, again = hostFailed(r), false
		}
		i.call.forget()
		if rehearsed { // so that what it breaks is not charged to the tenant
			i.tenant = noTenant
		}
		s.extra = handed + made + i.tank.extra() + p.give(i, again)
	}()
	f := i.hooks.of(hook)
	if f == nil {
		again = true
		return failf(AbiMismatch, "the module exports no function %s", hooks[string(hook)])
	}
	i.put(hook, r, m)
	i.begin(ctx)
	defer i.finish()
	err = i.hand()
	handed = i.call.record.fuel() + i.call.record.extra // read now, as get writes to the record, too
	if err != nil {
		again = true
		return err
	}
	err = i.run(ctx, f, fuel)
	s.reads = i.call.reads()
	if err != nil {
		again = i.stopped(err)
		return err
	}
	again = true
	s.number, s.fuel, s.output = api.DecodeI32(i.stack[0]), i.tank.used(), i.call.output
	return nil
}

// stopped reports whether the host stopped the call. The instance can then be used
// again after a reset. After a trap in the guest the instance is thrown away.
func (i *instance) stopped(err error) bool {
	failure, ok := err.(*Failure) //nolint:errorlint // its own, not one behind it
	return !ok || failure.Code == FuelExhausted || failure.Code == BadOutput
}

// put prepares the call for a hook and its question.
func (i *instance) put(hook Hook, r *Request, m *MergeRequest) {
	var facts *NodeFacts
	c, p := &i.call, i.plugin
	if m != nil {
		c.renew(&p.image.wants, m.Time)
		c.query.setMerge(m)
		facts = m.Node
	} else {
		c.renew(&p.image.wants, r.Time)
		c.query.setPod(hook, r)
		facts = r.Node
	}
	if !p.may.node {
		facts = nil
	}
	if !p.may.references {
		c.query.request.References = nil
	}
	c.query.setNode(p.node, facts)
}

// hand writes the record into the guest's input area.
func (i *instance) hand() error {
	img, r := &i.plugin.image, &i.call.record
	img.wants.write(r, &i.call.query, int(img.capacity))
	if r.err != nil {
		return failf(HostError, "write the fields the plugin declared: %w", r.err)
	}
	if !img.hasInput {
		return nil
	}
	length := len(r.out)
	if length > maxRecord {
		return failf(InputTooLarge, "the declared fields take more than %d bytes: fetch the large ones with get", maxRecord)
	}
	if uint64(length) > uint64(img.capacity) {
		return failf(InputTooLarge, "the declared fields take %d bytes, the plugin's input area has %d", length, img.capacity)
	}
	if !i.memory.WriteUint32Le(img.input+4, uint32(length)) || !i.memory.Write(img.input+8, r.out) {
		return failf(HostError, "the input area lies outside of the memory")
	}
	return nil
}
