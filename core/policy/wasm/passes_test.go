package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	w "github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/worst"
)

// TestInspect_timeIsInProportionToTheLength checks all passes over a module, which Inspect
// runs: for a module eight times as long, the time per byte must not grow much.
func TestInspect_timeIsInProportionToTheLength(t *testing.T) {
	runtime.LockOSThread() // so that the thread's time excludes other tests
	defer runtime.UnlockOSThread()
	ordinary := perByte(w.Denying("object.spec.@containers[*].image", "evil"))
	for _, family := range worst.All() {
		small, large := family.Module(1), family.Module(worst.Full)
		// The limit includes the fixed cost of even the smallest module.
		if got, limit := perByte(large), 3*max(ordinary, perByte(small)); got > limit {
			t.Errorf("%s: %.0f ns for each of %d bytes, want at most %.0f, three times that of %d bytes",
				family.Name, got, len(large), limit, len(small))
		}
	}
}

// perByte returns the nanoseconds per byte of a module, the best of five tries.
func perByte(binary []byte) float64 {
	best := time.Hour
	for range 5 {
		began := threadTime()
		Inspect(binary)
		best = min(best, time.Duration(threadTime()-began))
	}
	return float64(best) / float64(len(binary))
}

func TestLoad_costIsThatOfTheThread(t *testing.T) {
	t.Parallel()
	e := engineIn(t, t.TempDir()+"/cache", &testLog{})
	cost := func(binary []byte) (all time.Duration) {
		ctx := WithCost(t.Context(), func(cpu time.Duration) { all += cpu })
		if p, err := e.Load(ctx, binary, testOptions()); err == nil {
			_ = p.Close()
		}
		if err := e.Forget(ctx, binary, testOptions()); err != nil {
			t.Error(err)
		}
		return all
	}
	m := w.Plugin()
	m.Admit(w.I32Const(0))
	m.Data(0, string(make([]byte, 60_000)))
	if took := cost(m.Bytes()); took <= 0 || took > time.Second {
		t.Errorf("a small module took %v of this process", took)
	}
	if took := cost([]byte("no module")); took <= 0 || took > time.Second {
		t.Errorf("no module took %v", took)
	}
}

// TestLoad_costHasTheFirstInstance checks that loading pays for the snapshot of a large
// memory, which is captured each time the set is loaded.
func TestLoad_costHasTheFirstInstance(t *testing.T) {
	t.Parallel()
	e := engineIn(t, t.TempDir()+"/cache", &testLog{})
	cost := func(pages uint64) (least time.Duration) {
		m := w.Plugin()
		m.Replace(5, binary.AppendUvarint([]byte{1, 0}, pages))
		m.Admit(w.I32Const(0))
		o := testOptions()
		o.MemoryPages = 1024
		for range 4 { // only the first load compiles the module
			all := time.Duration(0)
			p, err := e.Load(WithCost(t.Context(), func(cpu time.Duration) { all += cpu }), m.Bytes(), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if least == 0 || all < least {
				least = all
			}
		}
		return least
	}
	if small, large := cost(1), cost(1024); large < small+5*time.Millisecond {
		t.Errorf("a memory of 1024 pages costs %v, one of a page %v", large, small)
	}
}

func TestLoad_verifyingEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	e := engineIn(t, t.TempDir()+"/cache", &testLog{})
	ctx, stop := context.WithCancelCause(t.Context())
	gone := errors.New("the owner is gone")
	stop(gone)
	binary := w.Denying("object.spec.@containers[*].image", "evil")
	if _, err := e.Load(ctx, binary, testOptions()); !errors.Is(err, gone) {
		t.Errorf("error %v", err)
	}
	if e.accepted.Load(sha256.Sum256(binary)) != nil {
		t.Error("it was verified and metered all the same")
	}
}
