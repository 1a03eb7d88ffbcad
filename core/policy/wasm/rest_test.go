package wasm

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	wazero "github.com/tetratelabs/wazero/api"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	"github.com/wardlet/wardlet/core/policy/wasm/memory"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// resting returns a plugin with room for 8 instances, and a new record of its use.
func resting(t *testing.T, module []byte) (*Plugin, *idle) {
	t.Helper()
	p, _ := load(t, module)
	p.pool.most = 8
	return p, &idle{}
}

// use takes n instances at once, and then returns and settles them.
func use(t *testing.T, p *Plugin, d *idle, n int) {
	t.Helper()
	var all []*instance
	for range n {
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	for _, i := range all {
		d.ended(p.pool.inUse())
		p.give(i, true)
	}
	p.Reset(t.Context())
}

func TestInstancesThatWereNotNeededAtOnceAreClosed(t *testing.T) {
	t.Parallel()
	p, d := resting(t, w.Answering(0, "", ""))
	for step, test := range []struct{ used, want int }{
		{6, 6}, {3, 3}, {2, 2}, {5, 5}, {0, warmInstances}, {0, warmInstances}, {1, 1}, {4, 4}, {1, 1},
	} {
		if test.used > 0 {
			use(t, p, d, test.used)
		}
		p.rest(d)
		if n := p.pool.made; n != test.want || len(p.pool.clean) != n {
			t.Errorf("step %d: %d instances, %d of them ready, want %d", step, n, len(p.pool.clean), test.want)
		}
	}
	if n := len(p.pool.losses); n != 0 {
		t.Errorf("for %d tenants some are counted as thrown away: the plugin would get no new ones", n)
	}
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("it answers %+v", got)
	}
}

func TestInstancesInUseAreNotClosed(t *testing.T) {
	t.Parallel()
	p, d := resting(t, w.Answering(0, "", ""))
	use(t, p, d, 4)
	p.rest(d)
	first, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.rest(d)
	if n := p.pool.made; n != 2 {
		t.Errorf("%d instances while two are in use", n)
	}
	p.give(first, true)
	p.give(second, true)
}

// TestAPluginThatNobodyAsksHoldsNoWrittenPages also checks the next answer: memory and
// globals must have their initial values.
func TestAPluginThatNobodyAsksHoldsNoWrittenPages(t *testing.T) {
	t.Parallel()
	p, d := resting(t, remembering())
	for _, settled := range []bool{true, false} {
		if got := admit(t, p); got.Answer != api.Allow {
			t.Fatalf("settled %t: it answers %+v", settled, got)
		}
		d.ended(1)
		if settled {
			p.Reset(t.Context())
		}
		p.rest(d) // a call was made since the last rest
		if d.trimmed {
			t.Error("what was asked a moment ago is trimmed")
		}
		p.rest(d)
		if !d.trimmed || len(p.pool.clean) != 1 || len(p.pool.used) != 0 {
			t.Errorf("settled %t: trimmed %t, %d instances are ready, %d used", settled, d.trimmed, len(p.pool.clean), len(p.pool.used))
		}
		i := p.pool.clean[0]
		if own, err := i.linear.Private(); err == nil && i.linear.Method() == memory.Scan && own != 0 {
			t.Errorf("settled %t: it holds %d bytes of its own", settled, own)
		}
		if i.budget.slice != leastSlice {
			t.Errorf("a slice of %d fuel, though each page is a fault now", i.budget.slice)
		}
	}
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("it answers %+v", got)
	}
}

func TestWhatRestsOnIsLeftAlone(t *testing.T) {
	t.Parallel()
	p, d := resting(t, w.Answering(0, "", ""))
	p.rest(d)
	i := p.pool.clean[0]
	i.budget.slice = 12345
	p.rest(d)
	if i.budget.slice != 12345 {
		t.Error("it is trimmed again though nobody asked")
	}
	d.ended(1)
	p.rest(d)
	p.rest(d)
	if i.budget.slice != leastSlice {
		t.Error("it is not trimmed after it was asked")
	}
}

func TestRestingBesideCallsAndClosingLosesNothing(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	p, err := e.Load(t.Context(), remembering(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	p.pool.most = 4
	var d idle // owned by the goroutine that rests
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				p.rest(&d)
			}
		}
	})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 200 {
				got, err := p.Admit(t.Context(), question(abitest.Pod()))
				if err != nil || got.Answer != api.Allow {
					t.Errorf("%+v, %v", got, err)
				}
				p.Reset(t.Context())
			}
		})
	}
	asking.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	close(done)
	group.Wait()
	p.rest(&d)
	if p.pool.made != 0 {
		t.Errorf("%d instances are left", p.pool.made)
	}
	if _, err := p.Admit(t.Context(), question(abitest.Pod())); !errors.Is(err, errClosed) {
		t.Errorf("error %v", err)
	}
}

// TestCallsAreWhatKeepsAPluginAwake calls Trim itself, so that the number of calls at once
// comes from the calls.
func TestCallsAreWhatKeepsAPluginAwake(t *testing.T) {
	t.Parallel()
	p, _ := load(t, remembering())
	p.pool.most = 4
	for range 3 {
		for range 4 {
			admit(t, p)
		}
		p.Reset(t.Context())
		p.Trim()
		if p.pool.idle.trimmed || p.pool.made != 1 {
			t.Errorf("after calls: trimmed %t, %d instances", p.pool.idle.trimmed, p.pool.made)
		}
		p.Trim()
		if !p.pool.idle.trimmed || p.pool.made != 1 {
			t.Errorf("after none: trimmed %t, %d instances", p.pool.idle.trimmed, p.pool.made)
		}
	}
}

// stubborn is a module that calls before when its instance is closed.
type stubborn struct {
	wazero.Module

	before func()
}

func (s stubborn) Close(ctx context.Context) error {
	s.before()
	return s.Module.Close(ctx)
}

// TestAnInstanceIsOnlyCleanWhenItsMemoryIs rests two instances, one of whose memories cannot
// be trimmed. While this one is closed, no call may use the other one in the state of its
// last call.
func TestAnInstanceIsOnlyCleanWhenItsMemoryIs(t *testing.T) {
	t.Parallel()
	p, d := resting(t, remembering())
	var both [2]*instance
	for n := range both {
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		both[n] = i
	}
	p.give(both[0], true)
	p.Reset(t.Context())
	used := both[1]
	used.put(abi.HookAdmit, question(abitest.Pod()), nil)
	used.begin(t.Context())
	if err := used.run(t.Context(), used.hooks.of(abi.HookAdmit), p.fuel); err != nil {
		t.Fatal(err)
	}
	used.call.forget()
	p.give(used, true)
	view, _ := both[0].memory.Read(0, both[0].memory.Size())
	if err := unix.Mlock(view); err != nil {
		t.Fatal(err)
	}
	*d = idle{}
	p.pool.made-- // as if two instances were kept warm
	closed := false
	both[0].module = stubborn{both[0].module, func() {
		closed = true
		p.pool.made++
		if result, err := p.Admit(t.Context(), question(abitest.Pod())); err != nil || result.Answer != api.Allow {
			t.Errorf("meanwhile a call answers %s, %v", result.Answer, err)
		}
	}}
	p.rest(d)
	if !closed {
		t.Error("memory that is locked was trimmed")
	}
}

// codeResident returns the resident machine code of the cache in dir as the kernel reports
// it: a line for each module.
func codeResident(t *testing.T, dir string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 5 && len(fields[1]) == len("r-xp") {
			ours = strings.HasPrefix(fields[len(fields)-1], dir)
		}
		if ours && strings.HasPrefix(line, "Rss:") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return lines
}

func TestAPluginThatNobodyAsksHoldsNoMachineCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/cache"
	p, err := engineIn(t, dir, &testLog{}).Load(t.Context(), remembering(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 2 {
		if got := admit(t, p); got.Answer != api.Allow {
			t.Fatalf("it answers %+v", got)
		}
		p.Trim()
		if got := codeResident(t, dir); len(got) != 1 || got[0] == "Rss: 0 kB" {
			t.Errorf("it was asked, and of its code is resident %q", got)
		}
		p.Trim()
		if got := codeResident(t, dir); len(got) != 1 || got[0] != "Rss: 0 kB" {
			t.Errorf("nobody asked, and of its code is resident %q", got)
		}
	}
}
