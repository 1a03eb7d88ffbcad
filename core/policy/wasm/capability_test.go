package wasm

import (
	"testing"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestFactsNeedTheCapability(t *testing.T) {
	t.Parallel()
	for _, of := range []w.Import{w.Path, w.Field} {
		e, _ := testEngine(t)
		o := testOptions()
		_, err := e.Load(t.Context(), declaring(of, "node.pods[*].name"), o)
		want := `PluginError: wardlet_init refuses with -1 and gives no reason; the last path it was refused: ` +
			`path node.pods[*].name: node needs the capability "node.read": add it to the policy's capabilities`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", of.Name, err, want)
		}
		o.Capabilities = []string{"node.read"}
		p, err := e.Load(t.Context(), declaring(of, "node.pods[*].name"), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownCapabilitiesAreRefused(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	o := testOptions()
	o.Capabilities = []string{"node.read", "node.write"}
	_, err := e.Load(t.Context(), w.Answering(0, "", ""), o)
	if want := `the capability "node.write" is not supported in this version: there are ["node.read" "references.read"]`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestReferences_needTheCapability(t *testing.T) {
	t.Parallel()
	for _, of := range []w.Import{w.Path, w.Field} {
		for _, path := range []string{"request.references", "request.references[*].name"} {
			e, _ := testEngine(t)
			o := testOptions()
			o.Capabilities = []string{"node.read"}
			_, err := e.Load(t.Context(), declaring(of, path), o)
			want := `PluginError: wardlet_init refuses with -1 and gives no reason; the last path it was refused: ` +
				`path ` + path + `: request.references needs the capability "references.read": add it to the policy's capabilities`
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v\nwant %s", of.Name, err, want)
			}
			o.Capabilities = []string{"references.read"}
			p, err := e.Load(t.Context(), declaring(of, path), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
