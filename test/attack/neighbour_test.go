package attack

import (
	"os"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// harmless returns the module of a plugin that does no harm.
func harmless(t *testing.T) *Module {
	t.Helper()
	text, err := os.ReadFile("testdata/neighbour.wat")
	if err != nil {
		t.Fatal(err)
	}
	all, err := assembled(t.Context(), cacheDir, map[string]string{"neighbour": string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// neighbour is that plugin, loaded into the engine of the attacks.
type neighbour struct {
	module *Module
	plugin *wasm.Plugin
}

func settle(t *testing.T, e *wasm.Engine) *neighbour {
	t.Helper()
	m := harmless(t)
	p, err := m.Load(t.Context(), e, m.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &neighbour{module: m, plugin: p}
}

// check checks that the neighbour's answers are unchanged.
func (n *neighbour) check(t *testing.T) {
	t.Helper()
	for i := range n.module.Questions {
		if _, err := n.module.Ask(t.Context(), n.plugin, &n.module.Questions[i]); err != nil {
			t.Errorf("the neighbour: %v", err)
		}
	}
}
