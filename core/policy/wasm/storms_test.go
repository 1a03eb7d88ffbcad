package wasm

import (
	"testing"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestAPluginThatIsLoadedAgainHasNoNewTrust(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	loaded := func(tenant string, module []byte) *Plugin {
		o := testOptions()
		o.Tenant = tenant
		p, err := e.Load(t.Context(), module, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	one := loaded("a", w.Answering(0, "", ""))
	one.storms.Add(2)
	for _, tc := range []struct {
		name, tenant string
		module       []byte
		storms       int64
	}{
		{"the same again", "a", w.Answering(0, "", ""), 2},
		{"of another tenant", "b", w.Answering(0, "", ""), 0},
		{"another module", "a", w.Answering(1, "", ""), 0},
	} {
		if got := loaded(tc.tenant, tc.module).storms.Load(); got != tc.storms {
			t.Errorf("%s: %d storms, want %d", tc.name, got, tc.storms)
		}
	}
}
