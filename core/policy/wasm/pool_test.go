package wasm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// remembering returns a plugin whose initialisation stores a number in memory that it grew,
// and another in a global. A call denies if one of the two has another value, and then
// changes both.
func remembering() []byte {
	m := w.Plugin()
	g := m.Global(w.I32, true, w.I32Const(1))
	m.Export("_initialize", m.Func(nil, nil, nil,
		w.I32Const(1), w.MemoryGrow, w.Drop, w.I32Const(70_000), w.I32Const(42), w.I32Store(0), w.I32Const(7), w.GlobalSet(g)))
	m.Admit(
		w.I32Const(70_000), w.I32Load(0), w.I32Const(42), w.I32Ne, w.GlobalGet(g), w.I32Const(7), w.I32Ne, w.Code{0x72}, // or
		w.I32Const(70_000), w.I32Const(1), w.I32Store(0), w.I32Const(2), w.GlobalSet(g),
	)
	return m.Bytes()
}

func TestInstancesBeginFromOneImage(t *testing.T) {
	t.Parallel()
	p, _ := load(t, remembering())
	p.pool.most = 4
	var all []*instance
	for range 4 {
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	for _, i := range all {
		p.give(i, true)
	}
	for range 12 {
		if got := admit(t, p); got.Answer != api.Allow {
			t.Fatalf("an instance began otherwise: %+v", got)
		}
	}
	if n := len(p.pool.used); n != 4 {
		t.Errorf("%d instances were used, want 4", n)
	}
	p.Reset(t.Context())
	if clean, used := len(p.pool.clean), len(p.pool.used); clean != 4 || used != 0 {
		t.Errorf("%d instances are clean and %d used, want 4 and 0", clean, used)
	}
}

func TestCallsWaitForAnInstance(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Answering(0, "", ""))
	p.pool.most = 2
	first, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if _, err := p.Admit(t.Context(), question(abitest.Pod())); err != nil {
				t.Error(err)
			}
		})
	}
	p.give(first, true)
	p.give(second, false)
	waiting.Wait()
	if p.pool.made > 2 {
		t.Errorf("%d instances", p.pool.made)
	}
}

func TestInstancesThatBrokeAreMadeAnewTenTimesASecond(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{"by a trap": w.Trapping(), "by growing": growingByOne()} {
		p, _ := load(t, module)
		now := abitest.Time
		p.pool.now = func() time.Time { return now }
		ask := func() error {
			_, err := p.Admit(t.Context(), question(abitest.Pod()))
			p.Reset(t.Context())
			return err
		}
		for n := range rebuildsPerSecond {
			if err := ask(); errors.Is(err, ErrNotReady) {
				t.Fatalf("%s: not ready after %d", name, n)
			}
		}
		if err := ask(); !errors.Is(err, ErrNotReady) {
			t.Errorf("%s: error %v, want ErrNotReady", name, err)
		}
		now = now.Add(time.Second)
		if err := ask(); errors.Is(err, ErrNotReady) {
			t.Errorf("%s: not ready a second later", name)
		}
	}
}

func TestInstancesThatOneTenantsPodsBreakAreNotMissedByOthers(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{"by a trap": w.Trapping(), "by growing": growingByOne()} {
		p, _ := load(t, module)
		p.pool.now = func() time.Time { return abitest.Time }
		ask := func(tenant string) error {
			q := question(abitest.Pod())
			q.Tenant = tenant
			_, err := p.Admit(t.Context(), q)
			return err
		}
		for range 2 * rebuildsPerSecond {
			_ = ask("evil")
		}
		for tenant, refused := range map[string]bool{"evil": true, "calm": false, "": false} {
			if err := ask(tenant); errors.Is(err, ErrNotReady) != refused {
				t.Errorf("%s: asked about a pod of %q: %v", name, tenant, err)
			}
		}
	}
}

// growingByOne returns a plugin that grows its memory by a page in each call, up to the
// maximum that its module declares, so that the instance cannot be restored.
func growingByOne() []byte {
	m := w.Plugin()
	m.Replace(5, []byte{1, 1, 1, 2})
	m.Admit(w.I32Const(1), w.MemoryGrow, w.Drop, w.I32Const(0))
	return m.Bytes()
}

func TestASettledPluginHasAnInstanceReady(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Trapping())
	for range 3 {
		_ = admitFailure(t, p)
		if n := len(p.pool.clean) + len(p.pool.used); n != 0 {
			t.Fatalf("%d instances after a trap", n)
		}
		p.Reset(t.Context())
		if n := len(p.pool.clean); n != warmInstances {
			t.Fatalf("%d instances are ready, want %d", n, warmInstances)
		}
	}
}

func TestClosingWaitsForTheCallsUnderWay(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	p, err := e.Load(t.Context(), w.Answering(0, "", ""), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	p.pool.most = 2
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err == nil || err.Error() != "1 plugins are still in use" {
		t.Errorf("the engine closes under its plugins: %v", err)
	}
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	for closing := false; !closing; {
		p.pool.mu.Lock()
		closing = p.pool.closed
		p.pool.mu.Unlock()
	}
	select {
	case err := <-closed:
		t.Errorf("closed while a call was under way: %v", err)
	default:
	}
	p.give(i, true)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := p.Admit(t.Context(), question(abitest.Pod())); !errors.Is(err, errClosed) {
		t.Errorf("error %v", err)
	}
}

func TestWaitingForAnInstanceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Answering(0, "", ""))
	p.pool.most = 1
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.give(i, true)
	errEnough := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.Admit(ctx, question(abitest.Pod()))
		done <- err
	}()
	end(errEnough)
	if err := <-done; !errors.Is(err, errEnough) {
		t.Errorf("error %v", err)
	}
}
