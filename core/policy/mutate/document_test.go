package mutate

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// telling returns a plugin that explains its answer with the document of the object.
func telling() []byte {
	const at, most = 4096, 32 << 10
	m := w.Plugin(w.JSON, w.Explain)
	m.Admit(
		w.I32Const(at),
		w.I32Const(1), w.I32Const(at), w.I32Const(most), w.Call(m.Imported("json")),
		w.Call(m.Imported("explain")),
		w.I32Const(0),
	)
	return m.Bytes()
}

func TestADocumentIsWhatThePluginSees(t *testing.T) {
	t.Parallel()
	limits := compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute} // the race detector takes its time
	engine, err := wasm.NewEngine(filepath.Join(t.TempDir(), "compiled"), slog.New(slog.DiscardHandler), wasm.WithCompiling(limits, compile.Normal))
	must(t, err)
	defer func() { must(t, engine.Close()) }()
	plugin, err := engine.Load(t.Context(), telling(), wasm.Options{
		Policy: "test", Hooks: []string{"admit"}, MemoryPages: 4, Fuel: 20_000_000, OutputBytes: 64 << 10, Node: "node-1",
	})
	must(t, err)
	defer func() { must(t, plugin.Close()) }()
	odd := apiPod(t)
	odd.Labels["html"] = "<&>\u2028"
	odd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "test"}}
	odd.DeletionTimestamp = odd.CreationTimestamp.DeepCopy()
	for _, p := range []*v1.Pod{staticPod(t), apiPod(t), odd, {}} {
		result, err := plugin.Admit(t.Context(), &abi.Request{Time: time.Unix(1e9, 0), Question: &api.Question{
			Op: api.Add, Pod: p, Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
		}})
		must(t, err)
		var want any
		must(t, json.Unmarshal([]byte(result.Explanation), &want))
		values, err := valuesOf(p)
		must(t, err)
		var got any
		must(t, json.Unmarshal([]byte(textOf(t, values)), &got))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the plugin sees another document: %s", d)
		}
	}
}

func TestTheNodesNameCountsOnce(t *testing.T) {
	t.Parallel()
	p := staticPod(t)
	p.Name = strings.Repeat("a", 253-len("-node-1")) + "-node-1"
	got := applied(t, p, `[{"op":"add","path":"/metadata/labels/a","value":"b"}]`, everything(false))
	if got.Pod.Name != p.Name {
		t.Errorf("name %s", got.Pod.Name)
	}
}

func TestWhatTheNodeAddsToAManifestIsAddedOnce(t *testing.T) {
	t.Parallel()
	// The result must be a pod that can be patched, decoded and stored again.
	p := staticPod(t)
	for i := range 5 {
		got := applied(t, p, `[{"op":"add","path":"/metadata/labels/n","value":"`+string(rune('a'+i))+`"}]`, everything(false))
		if len(got.Pod.Spec.Tolerations) != 1 || got.Pod.Name != "web-node-1" || len(got.Pod.Annotations) != len(p.Annotations) {
			t.Fatalf("pod %+v", got.Pod)
		}
		p = got.Pod
	}
}
