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

// TestInspect_timeIsInProportionToTheLength holds every pass over a module, of
// which Inspect makes all, to time that grows as its length does: what is eight
// times as long must not take much longer for each byte.
func TestInspect_timeIsInProportionToTheLength(t *testing.T) {
	runtime.LockOSThread() // its time does not count what other tests do meanwhile
	defer runtime.UnlockOSThread()
	ordinary := perByte(w.Denying("object.spec.@containers[*].image", "evil"))
	for _, family := range worst.All() {
		small, large := family.Module(1), family.Module(worst.Full)
		// What a module takes however small it is makes the limit larger.
		if got, limit := perByte(large), 3*max(ordinary, perByte(small)); got > limit {
			t.Errorf("%s: %.0f ns for each of %d bytes, want at most %.0f, three times that of %d bytes",
				family.Name, got, len(large), limit, len(small))
		}
	}
}

// perByte is the nanoseconds for a byte of a module in the best of some tries.
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

// A memory of 64 MiB is captured when a plugin starts, each time that its set is loaded.
func TestLoad_costHasTheFirstInstance(t *testing.T) {
	t.Parallel()
	e := engineIn(t, t.TempDir()+"/cache", &testLog{})
	cost := func(pages uint64) (least time.Duration) {
		m := w.Plugin()
		m.Replace(5, binary.AppendUvarint([]byte{1, 0}, pages))
		m.Admit(w.I32Const(0))
		o := testOptions()
		o.MemoryPages = 1024
		for range 4 { // the first is compiled
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
	if e.accepted.load(sha256.Sum256(binary)) != nil {
		t.Error("it was verified and metered all the same")
	}
}
