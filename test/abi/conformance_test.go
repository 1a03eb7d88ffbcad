package abi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// TestTheSetOnTheCompiler checks that the compiler's engine returns the results of the set, with
// the fuel of the set.
func TestTheSetOnTheCompiler(t *testing.T) {
	t.Parallel()
	playAll(t, newHost(t, readSet(t), "compiler"))
}

// TestTheSetOnTheInterpreter checks the same of the interpreter's engine.
func TestTheSetOnTheInterpreter(t *testing.T) {
	t.Parallel()
	playAll(t, newHost(t, readSet(t), "interpreter", wasm.WithInterpreter()))
}

func playAll(t *testing.T, h *host) {
	t.Helper()
	for _, c := range h.set.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if *update {
				t.Skip("-update rewrites the cases in this run")
			}
			binary := module(t, c.Module)
			for _, call := range h.play(t, c, binary, func(*policy) {}, true) {
				h.exactly(t, c, binary, call)
			}
		})
	}
}

// play loads a case's module, or another module that must behave the same, and asks all its
// questions. It returns the calls that were answered.
func (h *host) play(t *testing.T, c *testCase, binary []byte, change func(*policy), fuelled bool) (answered []*call) {
	t.Helper()
	of, err := h.set.policy(c)
	if err != nil {
		t.Fatal(err)
	}
	change(&of)
	p, refused, err := h.load(t.Context(), binary, &of)
	if err != nil {
		t.Fatal(err)
	}
	if refused != nil || c.Refused != nil {
		if diff := c.Refused.differs(refused); diff != "" {
			t.Error("the module is loaded or refused otherwise: " + diff)
		}
		if p != nil {
			_ = p.Close() // the error is that it was loaded
		}
		return nil
	}
	defer p.Close()
	explained := make([]text, len(c.Calls))
	for i, call := range c.Calls {
		got, err := p.ask(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		explained[i] = got.Explanation
		for _, fault := range call.differs(got, explained, fuelled) {
			t.Errorf("call %d: %s", i, fault)
		}
		if got.Answer != "" {
			answered = append(answered, call)
		}
	}
	return answered
}

// exactly checks that a call is answered with exactly its fuel, and not with one unit less.
func (h *host) exactly(t *testing.T, c *testCase, binary []byte, call *call) {
	t.Helper()
	for missing, want := range map[int64]string{0: "", 1: string(abi.FuelExhausted)} {
		if call.Want.Fuel-missing < 1 {
			continue // less than a policy may have
		}
		got, err := h.withFuel(t.Context(), c, binary, call, call.Want.Fuel-missing)
		if err != nil {
			t.Fatal(err)
		}
		if code := got.code(); code != want {
			t.Errorf("with %d units it ends with %q, want %q", call.Want.Fuel-missing, code, want)
		}
	}
}

// withFuel returns the result of a call whose fuel is limited.
func (h *host) withFuel(ctx context.Context, c *testCase, binary []byte, call *call, fuel int64) (want, error) {
	of, err := h.set.policy(c)
	if err != nil {
		return want{}, err
	}
	of.Fuel = fuel
	p, refused, err := h.load(ctx, binary, &of)
	if err != nil || refused != nil {
		return want{}, fmt.Errorf("%s: %v, %w", c.Name, refused, err)
	}
	defer p.Close()
	return p.ask(ctx, call)
}

func (w *want) code() string {
	if w.Failure == nil {
		return ""
	}
	return w.Failure.Code
}

// differs describes how a failure differs from the expected one; either may be nil. The text is the
// host's own; it must contain the text that the case names.
func (f *failure) differs(got *failure) string {
	if f == nil || got == nil || f.Code != got.Code || !strings.Contains(string(got.Says), string(f.Says)) {
		return cmp.Diff(f, got)
	}
	return ""
}

// differs describes how an answer differs from the expected one. explained are the explanations of
// the calls up to this one.
func (c *call) differs(got want, explained []text, fuelled bool) (faults []string) {
	expected := c.Want
	if c.free() {
		if c.Like != nil && got.Explanation != explained[*c.Like] {
			faults = append(faults, fmt.Sprintf("it explains %q, call %d explained %q", got.Explanation, *c.Like, explained[*c.Like]))
		}
		if c.Unlike != nil && got.Explanation == explained[*c.Unlike] {
			faults = append(faults, fmt.Sprintf("it explains %q, as call %d did", got.Explanation, *c.Unlike))
		}
		got.Explanation = ""
	}
	if expected.Failure != nil {
		if diff := expected.Failure.differs(got.Failure); diff != "" {
			return append(faults, "it ends otherwise: "+diff)
		}
		got.Failure = expected.Failure
	}
	if !fuelled {
		got.Fuel = expected.Fuel
	} else if got.Fuel == 0 {
		got.Fuel = expected.Fuel // the host reports only admit's fuel; exactly checks it
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		faults = append(faults, "(-cases.json +got):\n"+diff)
	}
	return faults
}
