package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/pod"
)

// Request is a question to a plugin.
type Request struct {
	Question *pod.Question
	// Time is the decision's time: all that the plugin sees of a clock.
	Time time.Time
}

// Result is a plugin's answer. All text is valid UTF-8, and printable but for
// newlines and tabs in Explanation and in the values of Annotations.
type Result struct {
	Answer pod.Answer
	// Reason is the plugin's code, at most 64 bytes; Message at most 4 KiB.
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	// RetryAfter is when a Hold wants to be looked at again, 0 for no wish and
	// at most 24 h.
	RetryAfter time.Duration
}

var answers = [...]pod.Answer{pod.Allow, pod.Deny, pod.Hold, pod.Abstain}

// Admit asks the plugin about a pod. The error is a *Failure. ctx is for log
// lines only: it does not end a call.
func (p *Plugin) Admit(ctx context.Context, r *Request) (result Result, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
			p.discard(ctx)
		}
	}()
	if err := p.ready(ctx); err != nil {
		return Result{}, err
	}
	i := p.instance
	if i.admit == nil {
		return Result{}, failf(AbiMismatch, "the module exports no function wardlet_admit")
	}
	p.begin(ctx, &call{now: r.Time, seed: p.callSeed})
	defer p.finish()
	if err := p.hand(i, r); err != nil {
		return Result{}, err
	}
	if err := p.run(i, i.admit); err != nil {
		p.discard(ctx)
		return Result{}, err
	}
	result, failure := p.call.result(api.DecodeI32(p.stack[0]))
	p.reset(ctx)
	if failure != nil {
		return Result{}, failure
	}
	return result, nil
}

// ready makes an instance if there is none.
func (p *Plugin) ready(ctx context.Context) (err error) {
	if p.code == nil {
		return failf(HostError, "the plugin is closed")
	}
	if p.instance == nil {
		p.instance, err = p.start(ctx)
	}
	return err
}

// hand writes the record into the guest's input area.
func (p *Plugin) hand(i *instance, r *Request) error {
	var err error
	if p.record, err = i.wants.write(p.record[:0], r, p.node); err != nil {
		return failf(HostError, "write the fields the plugin declared: %w", err)
	}
	if !i.hasInput {
		return nil
	}
	length := len(p.record)
	if uint64(length) > uint64(i.capacity) {
		return failf(InputTooLarge, "the declared fields take %d bytes, the plugin's input area has %d", length, i.capacity)
	}
	if !i.memory.WriteUint32Le(i.input+4, uint32(length)) || !i.memory.Write(i.input+8, p.record) {
		return failf(HostError, "the input area lies outside of the memory")
	}
	return nil
}

// callSeed is what the random numbers of a call come from: the plugin and what
// it is asked.
func (p *Plugin) callSeed() [sha256.Size]byte {
	return sha256.Sum256(append(p.seed[:], p.record...))
}

// run calls a function of the guest. Its result is left in p.stack.
func (p *Plugin) run(i *instance, f api.Function) *Failure {
	p.stack[0] = 0
	err := f.CallWithStack(p.call.ctx, p.stack[:])
	if err == nil {
		return nil
	}
	p.call.flush(p.log)
	failure := failureOf(err, i.memory.Size() >= p.memoryPages*pageSize, p.call.complaint)
	if failure.Code == HostError {
		p.log.logger.ErrorContext(p.call.ctx, "the host failed in a call of a plugin", "error", err)
	}
	return failure
}

// result is the answer that a hook's number and the calls before it stand for.
func (c *call) result(number int32) (Result, *Failure) {
	o := &c.output
	switch {
	case number < 0:
		return Result{}, &Failure{Code: PluginError, Err: errors.New("wardlet_admit reports an error" + c.why(number))}
	case int(number) >= len(answers):
		return Result{}, failf(BadOutput, "wardlet_admit gives %d: answers are 0 to %d", number, len(answers)-1)
	}
	result := Result{
		Answer: answers[number], Reason: o.reason, Message: o.message,
		Explanation: o.explanation, Warnings: o.warnings, Annotations: o.annotations,
	}
	if result.Answer == pod.Hold {
		result.RetryAfter = o.retryAfter
	}
	return result, nil
}

// reset puts the instance back to what it was before the call.
func (p *Plugin) reset(ctx context.Context) {
	i := p.instance
	if int(i.memory.Size()) != i.snapshot.size {
		p.discard(ctx)
		return
	}
	if err := i.snapshot.restore(); err != nil {
		p.log.logger.ErrorContext(ctx, "the memory of a plugin cannot be put back; it starts anew", "error", err)
		p.discard(ctx)
	}
}
