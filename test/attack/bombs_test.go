package attack

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// bombLimits are lower than a node's, so that the tests end soon. A bomb that exceeds them must not
// be harmless within higher limits.
var bombLimits = compile.Limits{CPU: time.Second, Memory: 512 << 20, Wall: 5 * time.Minute}

// children returns the processor time of the processes that this process has waited for.
func children(t *testing.T) time.Duration {
	t.Helper()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestBombsDoNotHurtTheAgent checks that compiling a bomb fails in a child, costs the agent next to
// nothing, does not disturb other plugins, and that the bomb is refused at once when it is loaded
// again.
func TestBombsDoNotHurtTheAgent(t *testing.T) {
	all, err := Bombs(t.Context(), cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	// The verifier now refuses most of the bombs. The child exists for those that the verifier does
	// not recognise, so this test raises the verifier's caps.
	caps := verify.Default()
	caps.Product, caps.Loops = 1<<30, 1<<30
	e, log := engine(t, bombLimits, wasm.WithCaps(caps))
	n := settle(t, e)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			begin, before := opened(t), used(t)
			loaded := make(chan error)
			go func() {
				_, err := m.Load(t.Context(), e, m.Name)
				loaded <- err
			}()
			asked := 0
			for waits := true; waits; asked++ {
				n.check(t)
				select {
				case err := <-loaded:
					if waits = false; err != nil {
						t.Error(err)
					}
				case <-time.After(time.Millisecond):
				}
			}
			const most, mostBytes = 2 * time.Second, 256 << 20
			if took := before.since(t); took.cpu > slowdown*most || took.allocated > mostBytes {
				t.Errorf("it took the agent %v and %d bytes, and %d answers of the neighbour", took.cpu, took.allocated, asked)
			}
			took := children(t)
			if _, err := m.Load(t.Context(), e, m.Name); err != nil {
				t.Error(err)
			}
			if again := children(t) - took; again > 0 {
				t.Errorf("refused once, it is compiled again, for %v", again)
			}
			checkLog(t, log)
			if now, leaks := leak(t, begin); leaks {
				t.Errorf("it left something open: %+v, was %+v", now, begin)
			}
		})
	}
	if err := n.plugin.Close(); err != nil {
		t.Error(err)
	}
}

// TestBombsAreRefusedBeforeTheyAreCompiled checks that modules that are known to be hard to compile
// do not reach a child, except calls with many values.
func TestBombsAreRefusedBeforeTheyAreCompiled(t *testing.T) {
	all, err := Bombs(t.Context(), cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]bool{"bomb-calls": true}
	for _, m := range all {
		report := wasm.Inspect(m.Binary)
		if passes := len(report.Refused) == 0; passes != compiled[m.Name] {
			t.Errorf("%s: refused for %v", m.Name, report.Refused)
		}
	}
}
