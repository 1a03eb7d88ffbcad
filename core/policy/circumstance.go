package policy

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
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
	// putOff is how long the question waits before a policy whose breaker is open may be
	// asked, 0 for not; why says so. There is no decision until then.
	putOff time.Duration
	why    string
}

// owned names a policy of somebody.
type owned struct{ tenant, policy string }

func (p *policy) owned() owned { return owned{p.tenant, p.Name} }

// barred is a question to a policy whose breaker may be open.
type barred struct {
	tenant string
	id     func() questionID
	// patience is how long the question may be put off.
	patience time.Duration
	now      time.Time
}

// bars is why a policy's plugin is not asked, nil if it is, unless the question is put off.
func (c *circumstances) bars(p *policy, q barred) error {
	if c.repeated {
		if cut := c.cut(p); cut != nil && !cut.Asked {
			return failureOn(cut)
		}
		return nil
	}
	wait, err := p.plugin.breakers.open(q.tenant, q.id, q.patience, q.now)
	if wait > 0 {
		c.putOff, c.why = wait, fmt.Sprintf("%s has failed on other pods, and is asked about one other each second; %s asks about all now, until five fail again", p.called(), p.command("retry"))
		return nil
	}
	if err != nil {
		code, detail := partsOf(err)
		c.note(p).Cut = &state.Cut{Code: code, Message: detail}
	}
	return err
}

// patience is how long a question of a hook may wait until the policy is asked. It does
// not wait for a policy that does not count, and it does not where nothing follows (lenient).
// An answer that is final does not follow from failures on other pods, however many wait.
func (p *policy) patience(hook string, lenient bool) time.Duration {
	switch {
	case lenient || p.Mode != spec.ModeEnforce && p.Mode != spec.ModeMember:
		return 0
	case hook == api.HookConnect:
		return connectPatience
	case hook == api.HookMerge, hook == api.HookAdmit && p.OnError == api.Deny:
		return math.MaxInt64
	}
	return maxTurn
}

// again returns after how long a pod that is held for a failure is judged again, where
// the breaker says so, else 0.
func (c *circumstances) again(p *policy, q barred) time.Duration {
	if c.repeated {
		if one := c.of[p.owned()]; one != nil {
			return one.RetryAfter
		}
		return 0
	}
	left := p.plugin.breakers.left(q.tenant, q.id, q.now)
	if left > 0 {
		c.note(p).RetryAfter = left
	}
	return left
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
		c.of, c.putOff, c.why = nil, 0, ""
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
