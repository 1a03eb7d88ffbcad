package wasm

import (
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// TestAnAcceptedModuleIsRefusedToPoliciesThatAskMore checks that a module accepted for one
// policy is refused to another with the same message, whether it was rewritten before or not.
func TestAnAcceptedModuleIsRefusedToPoliciesThatAskMore(t *testing.T) {
	t.Parallel()
	m := w.New()
	m.Memory(2)
	m.Export("wardlet_abi_1_0", m.Func(nil, nil, nil))
	m.Admit(w.I32Const(0))
	module := m.Bytes()
	for name, change := range map[string]func(o *Options){
		"a hook it has not":         func(o *Options) { o.Hooks = []string{"admit", "filter"} },
		"a hook there is not":       func(o *Options) { o.Hooks = []string{"reject"} },
		"less memory than it needs": func(o *Options) { o.MemoryPages = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testOptions()
			change(&options)
			refused := func(e *Engine) string {
				p, err := e.Load(t.Context(), module, options)
				if err == nil {
					t.Fatalf("loaded: %v", p.Close())
				}
				return err.Error()
			}
			dir := t.TempDir() + "/cache"
			fresh := refused(engineIn(t, dir, &testLog{}))
			e := engineIn(t, dir, &testLog{})
			p, err := e.Load(t.Context(), module, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			if again := refused(e); again != fresh {
				t.Errorf("%q, before it was %q", again, fresh)
			}
		})
	}
}

// TestAPluginLoadsTheSameFromWhatIsKept checks that a stored module equals the result of
// rewriting it again.
func TestAPluginLoadsTheSameFromWhatIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/cache"
	var fuel []int64
	for range 2 {
		e := engineIn(t, dir, &testLog{})
		p, err := e.Load(t.Context(), w.Denying("object.spec.@containers[*].image", "evil"), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		result, err := p.Admit(t.Context(), question(abitest.Pod("good", "evil")))
		if err != nil {
			t.Fatal(err)
		}
		fuel = append(fuel, result.Fuel)
	}
	if fuel[0] != fuel[1] {
		t.Errorf("fuel %v", fuel)
	}
}
