package eval

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

// HostEffects are what policies of one decision met that is no function of what
// they were asked: they are noted, and where a decision is repeated they are given
// back instead of being met. The zero value is for a decision that is made.
type HostEffects struct {
	// Repeated says that they are those on record. Nothing is noted then, and no
	// breaker is asked or told.
	Repeated bool
	Of       map[PolicyKey]*state.Circumstance
	// PutOff is how long the question waits before a policy whose breaker is open may be
	// asked, 0 for not; why says so. There is no decision until then.
	PutOff       time.Duration
	PutOffReason string
}

// PolicyKey names a policy of somebody.
type PolicyKey struct{ Tenant, Policy string }

// Key returns what identifies the policy on the node.
func (p *Policy) Key() PolicyKey { return PolicyKey{p.Tenant, p.Name} }

// breakerQuery is a question to a policy whose breaker may be open.
type breakerQuery struct {
	tenant string
	id     func() QuestionID
	// patience is how long the question may be put off.
	patience time.Duration
	now      time.Time
}

// bars is why a policy's plugin is not asked, nil if it is, unless the question is put off.
func (c *HostEffects) bars(p *Policy, q breakerQuery) error {
	if c.Repeated {
		if cut := c.cut(p); cut != nil && !cut.Asked {
			return failureOn(cut)
		}
		return nil
	}
	wait, err := p.Plugin.Breakers.open(q.tenant, q.id, q.patience, q.now)
	if wait > 0 {
		c.PutOff, c.PutOffReason = wait, fmt.Sprintf("%s has failed on other pods, and is asked about one other each second; %s asks about all now, until five fail again", p.Called(), p.Command("retry"))
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
func (p *Policy) patience(hook string, lenient bool) time.Duration {
	switch {
	case lenient || p.Mode != spec.ModeEnforce && p.Mode != spec.ModeMember:
		return 0
	case hook == api.HookConnect:
		return ConnectPatience
	case hook == api.HookMerge, hook == api.HookAdmit && p.OnError == api.Deny:
		return math.MaxInt64
	}
	return MaxTurn
}

// again returns after how long a pod that is held for a failure is judged again, where
// the breaker says so, else 0.
func (c *HostEffects) again(p *Policy, q breakerQuery) time.Duration {
	if c.Repeated {
		if one := c.Of[p.Key()]; one != nil {
			return one.RetryAfter
		}
		return 0
	}
	left := p.Plugin.Breakers.left(q.tenant, q.id, q.now)
	if left > 0 {
		c.note(p).RetryAfter = left
	}
	return left
}

// cutOff is why a plugin that is being asked gives no answer, as on record: ok is
// false where nothing of the kind is.
func (c *HostEffects) cutOff(p *Policy) (reads []string, err error, ok bool) { //nolint:revive // the error is the answer here
	cut := c.cut(p)
	if !c.Repeated || cut == nil || !cut.Asked {
		return nil, nil, false
	}
	return cut.Reads, failureOn(cut), true
}

// asked notes how asking a plugin ended, where that was not the plugin's doing.
func (c *HostEffects) asked(p *Policy, err error, reads []string) {
	if err == nil || c.Repeated || !ofMachineAsked(err) {
		return
	}
	code, detail := partsOf(err)
	_, _, fuel := FailureOf(err)
	c.note(p).Cut = &state.Cut{Code: code, Message: detail, Asked: true, Fuel: fuel, Reads: reads}
}

// counted notes that what a policy had said before counts.
func (c *HostEffects) counted(p *Policy, last *PolicyResult) {
	if c.Repeated {
		return
	}
	c.note(p).Last = &state.LastOpinion{
		Policy: p.Name, Tenant: p.Tenant, Answer: last.Answer, Reason: last.Reason, Message: last.Message,
		RetryAfter: last.retryAfter, Changed: last.Patch != "",
	}
}

// begin forgets what was noted: the decision is made anew.
func (c *HostEffects) begin() {
	if !c.Repeated {
		c.Of, c.PutOff, c.PutOffReason = nil, 0, ""
	}
}

func (c *HostEffects) cut(p *Policy) *state.Cut {
	if one := c.Of[p.Key()]; one != nil {
		return one.Cut
	}
	return nil
}

func (c *HostEffects) note(p *Policy) *state.Circumstance {
	if c.Of == nil {
		c.Of = map[PolicyKey]*state.Circumstance{}
	}
	one := c.Of[p.Key()]
	if one == nil {
		one = &state.Circumstance{}
		c.Of[p.Key()] = one
	}
	return one
}

// ofMachineAsked says of the error of a call that it was not the plugin's doing.
func ofMachineAsked(err error) bool {
	code, _, _ := FailureOf(err)
	return code == string(wasm.HostError) || code == string(wasm.NotReady)
}

// partsOf are the code of a failure and what it says of itself.
func partsOf(err error) (code, detail string) {
	code, _, _ = FailureOf(err)
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
