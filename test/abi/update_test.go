package abi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// TestUpdate writes the texts and the fuel of this host into the set, only with -update. Whether a
// case is refused, answered or fails must already match, because that is written by hand.
func TestUpdate(t *testing.T) {
	if !*update {
		return
	}
	s := readSet(t)
	h := newHost(t, s, "compiler")
	for _, c := range s.Cases {
		if err := h.rewrite(t, c); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if t.Failed() {
		t.Fatalf("%s is left as it was", casesFile)
	}
	written, err := laidOut(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(casesFile, written, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h *host) rewrite(t *testing.T, c *testCase) error {
	t.Helper()
	of, err := h.set.policy(c)
	if err != nil {
		return err
	}
	binary := module(t, c.Module)
	p, refused, err := h.load(t.Context(), binary, &of)
	if err != nil {
		return err
	}
	if refused != nil || c.Refused != nil {
		if p != nil {
			_ = p.Close() // the error is that it was loaded
		}
		if diff := c.Refused.differs(refused); diff != "" {
			return errors.New("it is loaded or refused otherwise: " + diff)
		}
		return nil
	}
	defer p.Close()
	for i, call := range c.Calls {
		got, err := p.ask(t.Context(), call)
		if err != nil {
			return err
		}
		if got.decision() != call.Want.decision() || got.Failure != nil && call.Want.Failure.differs(got.Failure) != "" {
			return fmt.Errorf("call %d: it decides %s (%+v), the case %s", i, got.decision(), got.Failure, call.Want.decision())
		}
		got.Failure = call.Want.Failure
		if call.free() {
			got.Explanation = ""
		}
		if got.Answer != "" && got.Fuel == 0 {
			if got.Fuel, err = h.least(t.Context(), c, binary, call); err != nil {
				return err
			}
		}
		call.Want = got
	}
	return nil
}

// decision returns the part of an outcome that is written by hand.
func (w *want) decision() string {
	text := w.Answer + w.code()
	if w.Winner != nil {
		text += fmt.Sprintf(" %d", *w.Winner)
	}
	return text
}

// least returns the least fuel with which a call is answered.
func (h *host) least(ctx context.Context, c *testCase, binary []byte, call *call) (fuel int64, err error) {
	low, high := int64(0), int64(10_000_000)
	for high-low > 1 {
		middle := (low + high) / 2
		got, err := h.withFuel(ctx, c, binary, call, middle)
		if err != nil {
			return 0, err
		}
		if got.code() == string(abi.FuelExhausted) {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
