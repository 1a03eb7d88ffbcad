package wasm

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// repeating returns a plugin that makes the same call a thousand times in each hook, with the
// text at address 256.
func repeating(of w.Import, text string, args ...int32) []byte {
	m := w.Plugin(of)
	m.Data(256, text)
	var code w.Code
	for _, arg := range args {
		code = w.Join(code, w.I32Const(arg))
	}
	code = w.Join(code, w.Call(m.Imported(of.Name)))
	if len(of.Results) > 0 {
		code = w.Join(code, w.Drop)
	}
	m.Admit(
		w.Loop(code, w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0), w.LocalGet(0), w.I32Const(1000), w.I32LtU, w.BrIf(0)),
		w.I32Const(0),
	)
	return m.Bytes()
}

// TestHostCall_leavesNoGarbage checks that host calls allocate little: garbage costs many
// times the fuel of a call, and collector time besides. It is not parallel: it counts what
// the process allocates.
func TestHostCall_leavesNoGarbage(t *testing.T) {
	setting := func(path string) []byte { return repeating(w.Setting, path, 256, int32(len(path)), 4096, 1024) }
	write := func(text string) []byte {
		vector := string([]byte{8, 1, 0, 0, byte(len(text)), 0, 0, 0}) // the text is right after it
		return repeating(w.WASI("fd_write", w.I32, w.I32, w.I32, w.I32), vector+text, 1, 256, 1, 16)
	}
	patch := "[" + strings.Repeat(`{"op":"test","path":"","value":[1,"a",{"b":null}]},`, 9) + `{"op":"remove","path":"/a"}]`
	for name, module := range map[string][]byte{
		"setting":                                setting("name"),
		"setting, a quoted key with escapes":     setting("a['" + strings.Repeat(`\'`, 400) + "']"),
		"setting, many quoted keys with escapes": setting("a" + strings.Repeat(`['\'']`, 31)),
		"setting, no path":                       setting("!"),
		"setting, too large an index":            setting("a[" + strings.Repeat("9", 900) + "]"),
		"setting, a wrong escape":                setting(`a['\n']`),
		"log, more than it may":                  repeating(w.Log, strings.Repeat("a", 3000), 1, 256, 3000),
		"log, C1 controls that do not fit":       repeating(w.Log, strings.Repeat("\u0085", 340), 1, 256, 680),
		"log, a level that nobody wants":         repeating(w.Log, strings.Repeat("a", 3000), 0, 256, 3000),
		"fd_write, more than it may":             write(strings.Repeat("a", 100) + "\n"),
		"patch, but that it is kept":             repeating(w.Patch, patch, 256, int32(len(patch))),
	} {
		p, _ := load(t, module, func(o *Options) {
			o.Settings = map[string]any{"name": "value", "a": map[string]any{"b": "c"}}
			o.OutputBytes, o.Fuel = 1<<20, 1<<40
		})
		q := question(abitest.Pod())
		ask := func() {
			if _, err := p.Admit(t.Context(), q); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for range 100 { // uses up the plugin's log budget
			ask()
		}
		most := 100.0 // per thousand calls
		if strings.HasPrefix(name, "patch") {
			most += 2000 // with the race detector two are of what is kept
		}
		if got := testing.AllocsPerRun(5, ask); got > most {
			t.Errorf("%s: a thousand calls allocate %.0f times, want %.0f at most", name, got, most)
		}
	}
}

// besideFuel returns what a plugin's call costs beside its fuel if it does not yield to the
// host.
func besideFuel(t *testing.T, p *Plugin, about *v1.Pod) int64 {
	t.Helper()
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.budget.slice, i.budget.most = 1<<40, 1<<40
	p.give(i, true)
	p.pool.clean, p.pool.used = p.pool.used, nil // so that it is used without being restored
	result, err := p.Admit(t.Context(), question(about))
	if err != nil {
		t.Fatal(err)
	}
	return result.Extra
}

func TestHostCall_pathOfASettingCostsBesideTheFuel(t *testing.T) {
	t.Parallel()
	tables := map[string]any{}
	for range 30 {
		tables = map[string]any{"m": tables}
	}
	for _, test := range []struct {
		path         string
		bytes, steps int64
	}{
		{"", 0, 0},
		{"aaaa", 4, 1},
		{strings.Repeat("a", 1024), 1024, 1},
		{strings.Repeat("a", 5000), 1025, 0},
		{strings.Repeat("m.", 30) + "x", 61, 31}, // all but the last segment exist
		{"m" + strings.Repeat("['m']", 20), 101, 21},
		{"a" + strings.Repeat("[0]", 100), 301, 32},
	} {
		length := int32(len(test.path))
		p, _ := load(t, repeating(w.Setting, test.path, 256, length, 8192, 1024), func(o *Options) {
			o.Fuel, o.Settings = 1<<40, tables
		})
		if got, want := besideFuel(t, p, abitest.Pod()), 1000*(test.bytes*pathExtra+test.steps*stepCost); got != want {
			t.Errorf("%.50s: a thousand paths of %d bytes cost %d beside their fuel, want %d", test.path, length, got, want)
		}
	}
}

// These are costs beside the fuel as docs/abi.md names them, in units of fuel. lookedUp is how many bytes of a
// key cost one unit.
const (
	wholeCost  = 100
	otherCost  = 2000
	timeCost   = 50
	stepCost   = 40
	keyCost    = 2
	objectCost = 200
	fieldCost  = 8
	lookedUp   = 8
)

// TestHostCall_costBesideTheFuel checks that reading values costs the same for tenants and
// operators.
func TestHostCall_costBesideTheFuel(t *testing.T) {
	t.Parallel()
	const n = 100
	limited := func(quantity string) *v1.Pod {
		p := abitest.Pod(make([]string, n)...)
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Resources.Limits = v1.ResourceList{"cpu": resource.MustParse(quantity)}
		}
		return p
	}
	const limits = "object.spec.containers[*].resources.limits['cpu']"
	empty := abitest.Pod(make([]string, n)...)
	for i := range n {
		empty.Spec.Containers[i].SecurityContext = &v1.SecurityContext{}
		empty.Spec.Volumes = append(empty.Spec.Volumes, v1.Volume{VolumeSource: v1.VolumeSource{
			EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1.5Gi"))},
		}})
		empty.ManagedFields = append(empty.ManagedFields, metav1.ManagedFieldsEntry{Time: new(metav1.NewTime(time.Unix(1e9, 0)))})
	}
	// object returns the cost of a value that is written as JSON.
	object := func(fields int64) int64 { return objectCost + fields*fieldCost }
	annotated := abitest.Pod()
	annotated.Annotations = map[string]string{}
	for i := range n {
		annotated.Annotations[strings.Repeat("k", 200)+strconv.Itoa(1000+i)] = "v"
	}
	for name, test := range map[string]struct {
		path string
		pod  *v1.Pod
		want int64
	}{
		"whole quantities":   {limits, limited("2"), n * wholeCost},
		"binary quantities":  {limits, limited("64Mi"), n * wholeCost},
		"decimal quantities": {limits, limited("1500m"), n * otherCost},
		"long quantities":    {limits, limited("123456789012345678901234567890.5"), n * otherCost},
		"keys of a map":      {"object.metadata.annotations", annotated, n * 204 * keyCost},
		"an entry of a map":  {"object.metadata.annotations['a']", annotated, 0},
		"texts":              {"object.spec.containers[*].image", limited("2"), 0},
		"objects":            {"object.spec.containers[*].resources", limited("2"), n * (object(3) + wholeCost)},
		"empty objects":      {"object.spec.containers[*].securityContext", empty, n * object(12)},
		"maps":               {"object.spec.containers[*].resources.limits", limited("1.5Gi"), n * (object(0) + otherCost)},
		"pointers":           {"object.spec.volumes[*].emptyDir", empty, n * (object(2) + otherCost)},
		"inlined fields":     {"object.spec.volumes[*]", empty, n * (object(int64(reflect.TypeFor[v1.VolumeSource]().NumField())+1) + otherCost)},
		"lists in objects":   {"object.spec", limited("2"), object(int64(reflect.TypeFor[v1.PodSpec]().NumField())) + n*wholeCost},
		"missing entries":    {"object.spec.containers[*].resources.limits['" + strings.Repeat("a", 900) + "']", empty, n * (900 / lookedUp)},
		"times":              {"object.metadata.managedFields[*].time", empty, n * timeCost},
	} {
		for _, owner := range []string{"", "red"} {
			m := w.Plugin(w.Field, w.Get)
			m.Data(256, test.path)
			m.Init(w.I32Const(256), w.I32Const(int32(len(test.path))), w.Call(m.Imported("field")))
			m.Admit(w.I32Const(0), w.I32Const(0), w.I32Const(0), w.Call(m.Imported("get")), w.Drop, w.I32Const(0))
			p, _ := load(t, m.Bytes(), func(o *Options) { o.Tenant = owner })
			if got := besideFuel(t, p, test.pod); got != test.want {
				t.Errorf("%s, owner %q: the call costs %d beside its fuel, want %d", name, owner, got, test.want)
			}
		}
	}
}

// TestHostCall_documentCostsBesideTheFuel checks that the quantities in a document are
// charged when the document is made, but not when it is read again.
func TestHostCall_documentCostsBesideTheFuel(t *testing.T) {
	t.Parallel()
	const n = 100
	p := abitest.Pod(make([]string, n)...)
	for i := range n {
		p.Spec.Containers[i].Resources.Requests = v1.ResourceList{"memory": resource.MustParse("1Ei")}
	}
	const fixed = objectCost + 4*fieldCost    // for kind, apiVersion, metadata and spec
	const request = objectCost + 13*fieldCost // docs/abi.md lists its fields
	for name, test := range map[string]struct {
		module []byte
		want   int64
	}{
		"json":       {repeating(w.JSON, "", 1, 0, 0), fixed + n*otherCost},
		"random_get": {repeating(w.WASI("random_get", w.I32, w.I32), "", 256, 4), request + fixed + n*otherCost},
		"none":       {repeating(w.JSON, "", 2, 0, 0), 0},
	} {
		plugin, _ := load(t, test.module, func(o *Options) { o.Fuel = 1 << 40 })
		if got := besideFuel(t, plugin, p); got != test.want {
			t.Errorf("%s: a thousand calls cost %d beside their fuel, want %d", name, got, test.want)
		}
	}
}

func TestHostCall_unusualTextCostsBesideTheFuel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text    string
		unusual int64
	}{
		"plain":    {"an image is not allowed ~", 0},
		"controls": {"a\x01\n\x7f", 3},
		"umlauts":  {"größe", 4},
		"torn":     {"\xff\x01\xe2\x80", 4},
	} {
		n := int32(len(test.text))
		for of, module := range map[string][]byte{
			"explain":  repeating(w.Explain, test.text, 256, n),
			"reason":   repeating(w.Reason, test.text, 256, 0, 256, n),
			"annotate": repeating(w.Annotate, test.text+"k", 256+n, 1, 256, n),
		} {
			p, _ := load(t, module, func(o *Options) { o.OutputBytes, o.Fuel = 1<<20, 1<<40 })
			if got, want := besideFuel(t, p, abitest.Pod()), 1000*test.unusual*textExtra; got != want {
				t.Errorf("%s, %s: a thousand calls cost %d beside their fuel, want %d", of, name, got, want)
			}
		}
	}
}
