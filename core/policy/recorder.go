package policy

import (
	"context"
	"sync"
)

// recorder puts decisions on record and has them answered then. It has one for
// each owner of pods, so that none waits for another's records.
type recorder struct {
	cfg   *Config
	shown *decisions
	// of are those of the owners, by tenant, the operator's under the empty name.
	// They do not change.
	of map[string]*ownRecorder
}

// newRecorder makes one. freed is called when an owner that was behind is not any
// more.
func newRecorder(c *Config, shown *decisions, freed func()) *recorder {
	r := &recorder{cfg: c, shown: shown, of: map[string]*ownRecorder{"": newOwnRecorder(c, "", shown, freed)}}
	for i := range c.Tenants {
		name := c.Tenants[i].Name
		r.of[name] = newOwnRecorder(c, name, shown, freed)
	}
	return r
}

// put takes a decision. It does not wait for the disk.
func (r *recorder) put(x *recording) {
	if r.cfg.Records == nil {
		r.shown.add(x.decision, keyOf(&x.decision))
		x.answer()
		return
	}
	r.of[x.decision.Tenant].put(x)
}

// behind reports whether too many decisions about an owner's pods wait for the
// disk.
func (r *recorder) behind(tenant string) bool {
	return r.cfg.Records != nil && r.of[tenant].behind()
}

// run records until ctx ends, and then what is left. It must be called once, if
// there are Records.
func (r *recorder) run(ctx context.Context) {
	r.restore()
	var running sync.WaitGroup
	for _, o := range r.of {
		running.Go(func() { o.run(ctx) })
	}
	running.Wait()
}

// restore shows what an agent before had on record, and has it not written again.
func (r *recorder) restore() {
	records, err := r.cfg.Records.Newest(maxRestored)
	if err != nil {
		r.cfg.Logger.Error("some decisions on record cannot be read", "err", err)
	}
	for i := range records {
		d := &records[i]
		key := keyOf(&d.Decision, inputsOf(d)...)
		r.shown.add(d.Decision, key)
		if o := r.of[d.Tenant]; o != nil {
			o.index.note(key, &d.Decision)
		}
	}
}
