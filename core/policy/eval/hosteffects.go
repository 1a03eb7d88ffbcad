package eval

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// HostEffects are the inputs of a decision that do not follow from its question: failures
// of the machine, open breakers, earlier verdicts. They are recorded, and when a decision
// is repeated they are taken from the record. The zero value is for a new decision.
type HostEffects struct {
	// Repeated reports that the effects come from a record. Then nothing is recorded, and
	// breakers are not used.
	Repeated bool
	Of       map[PolicyKey]*decisions.HostCause
	// PutOff is how long the question is put off, because the breaker of a policy is open
	// or an input is not known yet; 0 if it is not put off. PutOffReason says why. There is
	// no decision until then.
	PutOff       time.Duration
	PutOffReason string
}

// PolicyKey identifies a policy on the node.
type PolicyKey struct{ Tenant, Policy string }

// Key returns the policy's key on the node.
func (p *Policy) Key() PolicyKey { return PolicyKey{p.Tenant, p.Name} }

// breakerQuery is a question to a policy, for its breaker.
type breakerQuery struct {
	tenant string
	id     func() QuestionID
	// patience is how long the question may be put off.
	patience time.Duration
	now      time.Time
}

// bars returns the reason why a policy's plugin is not called, nil if it is called. It may
// put the question off.
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
		c.note(p).Cut = &decisions.Cut{Code: code, Message: detail}
	}
	return err
}

// patience returns how long a question may wait until the policy is asked: not at all if
// the policy does not count, or if the answer has no consequence (lenient). A final answer
// must not follow from failures on other pods, however long the question waits.
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

// again returns the delay before a pod that is held because of a failure is judged again; 0
// if the breaker is not open.
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

// cutOff returns why a plugin that was called returned no answer, as recorded; ok is false
// if that is not on record.
func (c *HostEffects) cutOff(p *Policy) (reads []string, err error, ok bool) { //nolint:revive // the error is the answer here
	cut := c.cut(p)
	if !c.Repeated || cut == nil || !cut.Asked {
		return nil, nil, false
	}
	return cut.Reads, failureOn(cut), true
}

// asked records the failure of a call if it was not the plugin's fault.
func (c *HostEffects) asked(p *Policy, err error, reads []string) {
	if err == nil || c.Repeated || !failedOnHost(err) {
		return
	}
	code, detail := partsOf(err)
	_, _, fuel := FailureOf(err)
	c.note(p).Cut = &decisions.Cut{Code: code, Message: detail, Asked: true, Fuel: fuel, Reads: reads}
}

// counted records that an earlier answer of the policy is used.
func (c *HostEffects) counted(p *Policy, last *PolicyResult) {
	if c.Repeated {
		return
	}
	c.note(p).Last = &decisions.LastOpinion{
		Policy: p.Name, Tenant: p.Tenant, Answer: last.Answer, Reason: last.Reason, Message: last.Message,
		RetryAfter: last.retryAfter, Changed: last.Patch != "",
	}
}

// begin drops what was recorded: the decision is made anew.
func (c *HostEffects) begin() {
	if !c.Repeated {
		c.Of, c.PutOff, c.PutOffReason = nil, 0, ""
	}
}

func (c *HostEffects) cut(p *Policy) *decisions.Cut {
	if one := c.Of[p.Key()]; one != nil {
		return one.Cut
	}
	return nil
}

func (c *HostEffects) note(p *Policy) *decisions.HostCause {
	if c.Of == nil {
		c.Of = map[PolicyKey]*decisions.HostCause{}
	}
	one := c.Of[p.Key()]
	if one == nil {
		one = &decisions.HostCause{}
		c.Of[p.Key()] = one
	}
	return one
}

// failedOnHost reports whether a call failed because of the host and not because of the plugin.
func failedOnHost(err error) bool {
	code, _, _ := FailureOf(err)
	return code == string(abi.HostError) || code == string(abi.NotReady)
}

// partsOf returns the code of a failure and its message.
func partsOf(err error) (code, detail string) {
	code, _, _ = FailureOf(err)
	failure, ok := errors.AsType[*abi.Failure](err)
	switch {
	case !ok:
		return code, err.Error()
	case failure.Err == nil:
		return code, ""
	}
	return code, failure.Err.Error()
}

// failureOn returns the recorded failure.
func failureOn(cut *decisions.Cut) error {
	failure := &abi.Failure{Code: abi.FailureCode(cut.Code), Fuel: cut.Fuel}
	if cut.Message != "" {
		failure.Err = errors.New(cut.Message)
	}
	return failure
}
