package attack

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// damaged loads a broken module, and asks it questions if it is loaded nevertheless. Any result
// that is the module's fault is accepted.
func damaged(t *testing.T, e *wasm.Engine, m *Module, what string, at int) (loaded bool) {
	t.Helper()
	before := used(t)
	p, err := e.Load(t.Context(), m.Binary, m.Options(m.Name))
	if err == nil {
		loaded = true
		_, err = p.Admit(t.Context(), Request("good"))
		if err := p.Close(); err != nil {
			t.Errorf("%s at byte %d: %v", what, at, err)
		}
	}
	if took := before.since(t); took.cpu > slowdown*maxLoad || took.allocated > maxLoadBytes {
		t.Errorf("%s at byte %d: it took %v and %d bytes", what, at, took.cpu, took.allocated)
	}
	if err == nil {
		return loaded
	}
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Code == abi.HostError {
		t.Errorf("%s at byte %d: an error that is not the module's fault: %v", what, at, err)
		return loaded
	}
	if err := printable(err.Error()); err != nil {
		t.Errorf("%s at byte %d: %v", what, at, err)
	}
	return loaded
}

func TestAModuleIsRefusedAtEveryPlaceItIsCutAt(t *testing.T) {
	whole := harmless(t)
	e, log := engine(t, patient)
	loaded := 0
	for at := range whole.Binary {
		m := *whole
		m.Binary = whole.Binary[:at]
		if damaged(t, e, &m, "cut", at) {
			loaded++
		}
	}
	if loaded > 0 {
		t.Errorf("%d of %d places: cut there the module is loaded", loaded, len(whole.Binary))
	}
	checkLog(t, log)
}

func TestAModuleWithAnyByteChangedHarmsNobody(t *testing.T) {
	const seed = 4
	whole := harmless(t)
	e, log := engine(t, patient)
	n := settle(t, e)
	begin := opened(t)
	random := rand.New(rand.NewPCG(seed, seed))
	loaded := 0
	for at := range whole.Binary {
		change := byte(1 + random.IntN(255))
		if slowdown > 1 && at%4 > 0 {
			continue
		}
		m := *whole
		m.Binary = bytes.Clone(whole.Binary)
		m.Binary[at] ^= change
		if damaged(t, e, &m, "changed", at) {
			loaded++
		}
	}
	if loaded == 0 {
		t.Error("none was loaded: what they do was not tried")
	}
	checkLog(t, log)
	n.check(t)
	if now, leaks := leak(t, begin); leaks {
		t.Errorf("something is left open: %+v, was %+v", now, begin)
	}
	if err := n.plugin.Close(); err != nil {
		t.Error(err)
	}
}
