package wasm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestWhatAPluginGotIsKnown(t *testing.T) {
	t.Parallel()
	paths := []string{"object.metadata.name", lazy + "object.spec.hostNetwork", "request.time", lazy + "object.metadata.labels"}
	record := []string{"object.metadata.name", "request.time"}
	got := func(more ...string) []string { return append(record[:2:2], more...) }
	for name, test := range map[string]struct {
		does func(m *w.Module) w.Code
		want []string
	}{
		"the record alone":        {func(*w.Module) w.Code { return w.Join() }, record},
		"a field of the record":   {func(m *w.Module) w.Code { return fetch(m, "get", 0, 100) }, record},
		"a field that it gets":    {func(m *w.Module) w.Code { return fetch(m, "get", 3, 100) }, got("object.metadata.labels")},
		"a field without room":    {func(m *w.Module) w.Code { return fetch(m, "get", 1, 0) }, got("object.spec.hostNetwork")},
		"a handle there is not":   {func(m *w.Module) w.Code { return fetch(m, "get", 4, 100) }, record},
		"whole documents":         {func(m *w.Module) w.Code { return w.Join(fetch(m, "json", 1, 0), fetch(m, "json", 0, 0)) }, got("request", "object")},
		"a document there is not": {func(m *w.Module) w.Code { return w.Join(fetch(m, "json", 2, 0), fetch(m, "json", 3, 0)) }, record},
		"before it traps":         {func(m *w.Module) w.Code { return w.Join(fetch(m, "get", 1, 0), w.Unreachable) }, got("object.spec.hostNetwork")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fetching(t, paths, w.Get, w.JSON)
			m.Admit(test.does(m), w.I32Const(0))
			p, _ := load(t, m.Bytes())
			for range 2 { // the second call must return the same
				result, _ := p.Admit(t.Context(), question(abitest.FullPod()))
				if diff := cmp.Diff(test.want, result.Reads); diff != "" {
					t.Errorf("reads (-want +got):\n%s", diff)
				}
			}
		})
	}
}
