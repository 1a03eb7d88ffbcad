package policy

import (
	"errors"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// circumstances are what policies of one decision met that is no function of what
// they were asked: they are noted, and where a decision is repeated they are given
// back instead of being met. The zero value is for a decision that is made.
type circumstances struct {
	// repeated says that they are those on record. Nothing is noted then, and no
	// breaker is asked or told.
	repeated bool
	of       map[owned]*state.Circumstance
}

// owned names a policy of somebody.
type owned struct{ tenant, policy string }

func (p *policy) owned() owned { return owned{p.tenant, p.Name} }

// bars is why a policy's plugin is not asked about a tenant's pod, nil if it is.
func (c *circumstances) bars(p *policy, tenant string, now time.Time) error {
	if c.repeated {
		if cut := c.cut(p); cut != nil && !cut.Asked {
			return failureOn(cut)
		}
		return nil
	}
	err := p.plugin.breakers.open(tenant, now)
	if err != nil {
		code, detail := partsOf(err)
		c.note(p).Cut = &state.Cut{Code: code, Message: detail}
	}
	return err
}

// cutOff is why a plugin that is being asked gives no answer, as on record: ok is
// false where nothing of the kind is.
func (c *circumstances) cutOff(p *policy) (reads []string, err error, ok bool) { //nolint:revive // the error is the answer here
	cut := c.cut(p)
	if !c.repeated || cut == nil || !cut.Asked {
		return nil, nil, false
	}
	return cut.Reads, failureOn(cut), true
}

// asked notes how asking a plugin ended, where that was not the plugin's doing.
func (c *circumstances) asked(p *policy, err error, reads []string) {
	if err == nil || c.repeated || !ofMachineAsked(err) {
		return
	}
	code, detail := partsOf(err)
	_, _, fuel := failureOf(err)
	c.note(p).Cut = &state.Cut{Code: code, Message: detail, Asked: true, Fuel: fuel, Reads: reads}
}

// counted notes that what a policy had said before counts.
func (c *circumstances) counted(p *policy, last *opinion) {
	if c.repeated {
		return
	}
	c.note(p).Last = &state.LastOpinion{
		Policy: p.Name, Tenant: p.tenant, Answer: last.Answer, Reason: last.Reason, Message: last.Message,
		RetryAfter: last.retryAfter, Changed: last.Patch != "",
	}
}

// begin forgets what was noted: the decision is made anew.
func (c *circumstances) begin() {
	if !c.repeated {
		c.of = nil
	}
}

func (c *circumstances) cut(p *policy) *state.Cut {
	if one := c.of[p.owned()]; one != nil {
		return one.Cut
	}
	return nil
}

func (c *circumstances) note(p *policy) *state.Circumstance {
	if c.of == nil {
		c.of = map[owned]*state.Circumstance{}
	}
	one := c.of[p.owned()]
	if one == nil {
		one = &state.Circumstance{}
		c.of[p.owned()] = one
	}
	return one
}

// ofMachineAsked says of the error of a call that it was not the plugin's doing.
func ofMachineAsked(err error) bool {
	code, _, _ := failureOf(err)
	return code == string(wasm.HostError) || code == string(wasm.NotReady)
}

// partsOf are the code of a failure and what it says of itself.
func partsOf(err error) (code, detail string) {
	code, _, _ = failureOf(err)
	failure, ok := errors.AsType[*wasm.Failure](err)
	switch {
	case !ok:
		return code, err.Error()
	case failure.Err == nil:
		return code, ""
	}
	return code, failure.Err.Error()
}

// failureOn is the failure that is on record.
func failureOn(cut *state.Cut) error {
	failure := &wasm.Failure{Code: wasm.FailureCode(cut.Code), Fuel: cut.Fuel}
	if cut.Message != "" {
		failure.Err = errors.New(cut.Message)
	}
	return failure
}
