package memory

import (
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

// cells returns a module with two pages of memory, and with functions to store and load a
// number at an address, and to grow the memory.
func cells() []byte {
	m := w.New()
	m.Memory(2)
	m.Data(100, "\x2a\x00\x00\x00")
	m.Export("store", m.Func([]w.Type{w.I32, w.I32}, nil, nil, w.LocalGet(0), w.LocalGet(1), w.I32Store(0)))
	m.Export("load", m.Func([]w.Type{w.I32}, []w.Type{w.I32}, nil, w.LocalGet(0), w.I32Load(0)))
	m.Export("grow", m.Func([]w.Type{w.I32}, []w.Type{w.I32}, nil, w.LocalGet(0), w.MemoryGrow))
	return m.Bytes()
}

// guest is an instance of cells.
type guest struct {
	testing.TB
	module api.Module
	memory *Linear
}

func (g *guest) call(name string, args ...uint64) int32 {
	g.Helper()
	results, err := g.module.ExportedFunction(name).Call(g.Context(), args...)
	if err != nil {
		g.Fatal(err)
	}
	if len(results) == 0 {
		return 0
	}
	return api.DecodeI32(results[0])
}

func (g *guest) holds(address uint64, want int32) {
	g.Helper()
	if got := g.call("load", address); got != want {
		g.Errorf("%d at %d, want %d", got, address, want)
	}
}

type engine struct {
	wazero.Runtime
	code wazero.CompiledModule
}

func newEngine(tb testing.TB, config wazero.RuntimeConfig) *engine {
	tb.Helper()
	r := wazero.NewRuntimeWithConfig(tb.Context(), config)
	tb.Cleanup(func() { r.Close(context.Background()) })
	code, err := r.CompileModule(tb.Context(), cells())
	if err != nil {
		tb.Fatal(err)
	}
	return &engine{r, code}
}

func (e *engine) instance(tb testing.TB, limit uint64, method Method) *guest {
	tb.Helper()
	l, err := NewLinear(limit, By(method))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(l.Free)
	ctx := experimental.WithMemoryAllocator(tb.Context(), l)
	module, err := e.InstantiateModule(ctx, e.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		tb.Fatal(err)
	}
	return &guest{tb, module, l}
}

// place is an engine, and the method to restore the memory of an instance.
type place struct {
	config func() wazero.RuntimeConfig
	method Method
}

// places returns the compiler and the interpreter, each with every method.
func places() map[string]place {
	all := map[string]place{}
	for _, method := range methods {
		all["compiler/"+method.String()] = place{wazero.NewRuntimeConfigCompiler, method}
		all["interpreter/"+method.String()] = place{wazero.NewRuntimeConfigInterpreter, method}
	}
	return all
}

func TestAnInstanceIsPutBack(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, p.config())
			const last = 2*wasmPage - 4
			g := e.instance(t, 3*wasmPage, p.method)
			g.call("store", 200, 7)
			capture(t, g.memory)
			for round := range uint64(100) {
				g.holds(100, 42)
				g.holds(200, 7)
				g.holds(last, 0)
				g.call("store", 100, round+1)
				g.call("store", 200, round+2)
				g.call("store", last, round+3)
				g.holds(last, int32(round)+3)
				restore(t, g.memory)
			}
			g.holds(100, 42)
			g.holds(last, 0)
		})
	}
}

func TestAnInstanceGrowsToItsLimitOnly(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, p.config())
			g := e.instance(t, 3*wasmPage, p.method)
			capture(t, g.memory)
			g.call("store", 100, 1)
			if n := g.call("grow", 2); n != -1 {
				t.Errorf("grow above the limit gives %d, want -1", n)
			}
			if g.memory.Grown() {
				t.Error("grown, though it could not")
			}
			restore(t, g.memory)
			g.holds(100, 42)
			g.call("store", 100, 2)
			if n := g.call("grow", 1); n != 2 {
				t.Errorf("grow to the limit gives %d, want 2", n)
			}
			g.call("store", 3*wasmPage-4, 9)
			g.holds(3*wasmPage-4, 9)
			g.holds(100, 2)
			if !g.memory.Grown() {
				t.Error("not grown")
			}
			if n := g.call("grow", 1); n != -1 {
				t.Errorf("grow at the limit gives %d, want -1", n)
			}
		})
	}
}

func TestAnInstanceThatGrewIsPutBack(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit, first, last = 5 * wasmPage, 2 * wasmPage, 5*wasmPage - 4
			g := newEngine(t, p.config()).instance(t, limit, p.method)
			capture(t, g.memory)
			for round := range int32(20) {
				g.holds(100, 42)
				if n := g.call("grow", 0); n != 2 {
					t.Fatalf("round %d: it begins with %d pages, want 2", round, n)
				}
				if _, err := g.module.ExportedFunction("load").Call(t.Context(), first); err == nil {
					t.Fatalf("round %d: it reads behind its memory", round)
				}
				if n := g.call("grow", 1+uint64(round%3)); n != 2 {
					t.Fatalf("round %d: grow gives %d, want 2", round, n)
				}
				g.holds(first, 0)
				g.call("store", 100, 1)
				g.call("store", first, 7)
				if round%3 == 2 {
					g.holds(last, 0)
					g.call("store", last, 9)
				}
				if !g.memory.Grown() || !g.memory.Shrink(g.module.Memory()) || g.memory.Grown() {
					t.Fatalf("round %d: it does not shrink", round)
				}
				if round%5 == 4 {
					if err := g.memory.Trim(); err != nil {
						t.Fatal(err)
					}
				}
				restore(t, g.memory)
			}
		})
	}
}

// TestAnInstanceAtItsModulesMostDoesNotShrink uses a memory at its module's maximum, which
// cannot be asked to grow.
func TestAnInstanceAtItsModulesMostDoesNotShrink(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := wazero.NewRuntimeWithConfig(t.Context(), p.config())
			defer r.Close(context.Background())
			m := w.New()
			m.Replace(5, []byte{1, 1, 1, 2}) // one page, at most two
			m.Export("grow", m.Func([]w.Type{w.I32}, []w.Type{w.I32}, nil, w.LocalGet(0), w.MemoryGrow))
			code, err := r.CompileModule(t.Context(), m.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			g := (&engine{r, code}).instance(t, 4*wasmPage, p.method)
			capture(t, g.memory)
			if n := g.call("grow", 1); n != 1 {
				t.Fatalf("grow gives %d, want 1", n)
			}
			if g.memory.Shrink(g.module.Memory()) || !g.memory.Grown() || g.module.Memory().Size() != 2*wasmPage {
				t.Errorf("it says that it shrank: grown %t, %d bytes", g.memory.Grown(), g.module.Memory().Size())
			}
		})
	}
}

func TestInstancesAdoptWhatAnotherInitialised(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, p.config())
			first := e.instance(t, 4*wasmPage, p.method)
			first.call("grow", 1)
			first.call("store", 2*wasmPage, 11)
			s := capture(t, first.memory)
			second := e.instance(t, 4*wasmPage, p.method)
			second.call("store", 300, 5)
			if err := second.memory.Adopt(s); err == nil {
				t.Fatal("adopted more than it has")
			}
			second.module.Memory().Grow(1)
			if err := second.memory.Adopt(s); err != nil {
				t.Fatal(err)
			}
			second.holds(2*wasmPage, 11)
			second.holds(300, 0)
			second.call("store", 2*wasmPage, 12)
			first.holds(2*wasmPage, 11)
			restore(t, second.memory)
			second.holds(2*wasmPage, 11)
		})
	}
}

func TestClosingAnInstanceFreesItsMemory(t *testing.T) {
	t.Parallel()
	for name, p := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, p.config())
			g := e.instance(t, 2*wasmPage, p.method)
			s := capture(t, g.memory)
			if err := g.module.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if g.memory.all != nil || s.users.Load() != 1 {
				t.Errorf("%d bytes are mapped, %d users of the snapshot", len(g.memory.all), s.users.Load())
			}
		})
	}
}

func TestAModuleThatBeginsAboveTheLimitIsStopped(t *testing.T) {
	t.Parallel()
	e := newEngine(t, wazero.NewRuntimeConfigInterpreter())
	l, _ := newMemory(t, wasmPage, 0)
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "its policy may have 65536") {
			t.Errorf("stopped with %v", err)
		}
	}()
	ctx := experimental.WithMemoryAllocator(t.Context(), l)
	_, err := e.InstantiateModule(ctx, e.code, wazero.NewModuleConfig().WithName(""))
	t.Errorf("instantiated: %v", err)
}
