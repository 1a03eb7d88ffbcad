package wasm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestReferences_fields(t *testing.T) {
	t.Parallel()
	type list = []any
	r := question(&v1.Pod{})
	r.References = []api.Reference{
		{Kind: "ConfigMap", Name: "app", Keys: []string{"a", "b"}, Digest: "sha256:1"},
		{Kind: "Secret", Name: "tls", Optional: true},
	}
	for path, want := range map[string]any{
		"request.references[*].kind":     list{"ConfigMap", "Secret"},
		"request.references[1].name":     "tls",
		"request.references[2].name":     missing{},
		"request.references[*].optional": list{false, true},
		"request.references[*].keys":     list{list{"a", "b"}, missing{}},
		"request.references[*].digest":   list{"sha256:1", missing{}},
		"request.references[1]":          raw(`{"kind":"Secret","name":"tls","optional":true}`),
	} {
		if diff := cmp.Diff(want, parseRecord(t, recordOf(t, declared(t, path), r))[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if got := parseRecord(t, recordOf(t, declared(t, "request.references[*].name"), question(&v1.Pod{})))[0]; !cmp.Equal(got, any(list{})) {
		t.Errorf("of a pod that names none: %v", got)
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
