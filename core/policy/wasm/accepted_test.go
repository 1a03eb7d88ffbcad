package wasm

import (
	"testing"

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
