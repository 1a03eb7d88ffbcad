package spectest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// scriptOf returns a suite with one script a.json with these commands, and its modules.
func scriptOf(commands string, modules map[string][]byte) fs.FS {
	files := fstest.MapFS{"a.json": {Data: []byte(`{"commands":[` + commands + `]}`)}}
	for name, binary := range modules {
		files[name] = &fstest.MapFile{Data: binary}
	}
	return files
}

// texts returns the outcomes' texts, in order.
func texts(r *Result) (all []string) {
	for _, o := range r.Outcomes {
		all = append(all, o.Text)
	}
	return all
}

// yield is what the meter of these tests imports.
var yield = wasmtest.Import{Module: "wardlet:meter", Name: "yield"}

// recursive returns a module with a function "one" and an endless function "run". Each calls yield
// first if that is imported.
func recursive(imports ...wasmtest.Import) []byte {
	m := wasmtest.New(imports...)
	var first wasmtest.Code
	if len(imports) > 0 {
		first = wasmtest.Call(0)
	}
	m.Export("one", m.Func(nil, []wasmtest.Type{wasmtest.I32}, nil, first, wasmtest.I32Const(1)))
	m.Export("run", m.Func(nil, nil, nil, first, wasmtest.Call(wasmtest.Func(len(imports)+1))))
	return m.Bytes()
}

func TestAMeterIsOfferedItsImportsAndPreparedBeforeEveryCall(t *testing.T) {
	t.Parallel()
	const commands = `{"type":"module","line":1,"filename":"a.wasm"},{"type":"module","line":2,"filename":"a.wasm"},
		{"type":"assert_return","line":3,"action":{"type":"invoke","field":"one"},"expected":[{"type":"i32","value":"1"}]},
		{"type":"assert_exhaustion","line":4,"action":{"type":"invoke","field":"run"}},
		{"type":"assert_return","line":5,"action":{"type":"invoke","field":"one"},"expected":[{"type":"i32","value":"1"}]}`
	scripts := scriptOf(commands, map[string][]byte{"a.wasm": recursive()})
	for _, e := range engines {
		c := config(t, e.config(), api.CoreFeaturesV2)
		before := runFile(t, scripts, "a.json", c)
		left, prepared := 0, 0
		c.Transform = func([]byte) ([]byte, error) { return recursive(yield), nil }
		c.Ready = func(ctx context.Context, r wazero.Runtime) error {
			_, err := r.NewHostModuleBuilder("wardlet:meter").NewFunctionBuilder().WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
				if left--; left < 0 {
					panic(errors.New("StackLimit: more than 100 deep"))
				}
			}), nil, nil).Export("yield").Instantiate(ctx)
			return err
		}
		c.Prepare = func(api.Module) { left, prepared = 100, prepared+1 }
		after := runFile(t, scripts, "a.json", c)
		if all := Compare(before, after); len(all) > 0 || len(after.Faults()) > 0 {
			t.Errorf("%s: differences %q, faults %v", e.name, all, after.Faults())
		}
		if detail := after.Outcomes[3].Detail; !strings.Contains(detail, "more than 100 deep") {
			t.Errorf("%s: the recursion ends with %q, want the host's limit", e.name, detail)
		}
		// Each of two instances is prepared once, and both before each of three calls.
		if prepared != 8 {
			t.Errorf("%s: %d instances were prepared, want 8", e.name, prepared)
		}
	}
}

func TestARefusedModuleLeavesNoInstance(t *testing.T) {
	t.Parallel()
	scripts := scriptOf(`{"type":"module","line":1,"name":"$a","filename":"a.wasm"},{"type":"module","line":2,"name":"$b","filename":"b.wasm"},
		{"type":"register","line":3,"name":"$b","as":"b"},
		{"type":"action","line":4,"action":{"type":"invoke","field":"one"}},
		{"type":"action","line":5,"action":{"type":"invoke","module":"$b","field":"one"}},
		{"type":"action","line":6,"action":{"type":"invoke","module":"$a","field":"one"}},
		{"type":"action","line":7,"action":{"type":"invoke","module":"$a","field":"two"}},
		{"type":"action","line":8,"action":{"type":"get","module":"$a","field":"g"}},
		{"type":"module","line":9,"name":"$c","filename":"a.wasm"},{"type":"register","line":10,"name":"$c","as":"c"}`,
		map[string][]byte{"a.wasm": recursive(), "b.wasm": []byte("b")})
	const none = "no instance: its module was refused or is unknown"
	for _, e := range engines {
		c := config(t, e.config(), api.CoreFeaturesV2)
		c.Transform = func(module []byte) ([]byte, error) {
			if string(module) == "b" {
				return nil, errors.New("no module")
			}
			return module, nil
		}
		r := runFile(t, scripts, "a.json", c)
		want := []string{
			"instantiated", "refused: transform", "not registered", none, none, "i32:0x00000001",
			"no such function", "no such global", "instantiated", "registered",
		}
		if diff := cmp.Diff(want, texts(r)); diff != "" {
			t.Errorf("%s: outcomes (-want +got):\n%s", e.name, diff)
		}
		if refused := r.Refused(); len(refused) != 1 || refused[0].Line != 2 || refused[0].Detail != "no module" {
			t.Errorf("%s: refused %v, want the module of line 2", e.name, refused)
		}
	}
}

func TestHalvesOfVectorsAreNotTakenForWholes(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	m.Global(wasmtest.V128, true, slices.Concat(wasmtest.Code("\xfd\x0c\x07"), make(wasmtest.Code, 15)))
	m.Replace(7, []byte("\x01\x01g\x03\x00"))
	scripts := scriptOf(`{"type":"module","line":1,"filename":"a.wasm"},
		{"type":"assert_return","line":2,"action":{"type":"get","field":"g"},"expected":[{"type":"v128","lane_type":"i64","value":["7","0"]}]}`,
		map[string][]byte{"a.wasm": m.Bytes()})
	for _, e := range engines {
		r := runFile(t, scripts, "a.json", config(t, e.config(), api.CoreFeaturesV2))
		if len(r.Faults()) != 1 || !strings.Contains(r.Faults()[0].Fault, "reads only its lower half") {
			t.Errorf("%s: faults %v, want that half of the global cannot be read", e.name, r.Faults())
		}
		if diff := cmp.Diff([]string{"a.json:1 global 0"}, r.Halves); diff != "" {
			t.Errorf("%s: halves (-want +got):\n%s", e.name, diff)
		}
		if diff := cmp.Diff([]string{"lower half of a v128: 0x7"}, r.States[1].Globals); diff != "" {
			t.Errorf("%s: globals (-want +got):\n%s", e.name, diff)
		}
	}
}

func TestWhatCannotBeRunIsAnError(t *testing.T) {
	t.Parallel()
	const module = `{"type":"module","line":1,"filename":"a.wasm"}`
	ended, end := context.WithCancel(t.Context())
	end()
	for _, x := range []struct {
		name    string
		ctx     context.Context
		scripts fs.FS
		change  func(*Config)
		want    string
	}{
		{"no scripts", t.Context(), fstest.MapFS{}, nil, "the suite has no scripts"},
		{"no JSON", t.Context(), fstest.MapFS{"a.json": {Data: []byte("(module)")}}, nil, "script a.json: invalid character"},
		{"a module is missing", t.Context(), scriptOf(module, nil), nil, "script a.json: line 1: open a.wasm: file does not exist"},
		{"the context has ended", ended, scriptOf(module, nil), nil, "script a.json: context canceled"},
		{"no host", t.Context(), scriptOf(module, nil), func(c *Config) { c.Host = nil }, "script a.json: the module spectest: invalid magic number"},
		{"no host functions", t.Context(), scriptOf(module, nil), func(c *Config) {
			c.Ready = func(context.Context, wazero.Runtime) error { return errors.New("broken") }
		}, "script a.json: offer host functions: broken"},
	} {
		c := config(t, wazero.NewRuntimeConfigInterpreter(), api.CoreFeaturesV2)
		if x.change != nil {
			x.change(&c)
		}
		if _, err := Run(x.ctx, x.scripts, c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %q", x.name, err, x.want)
		}
	}
}

func TestScriptsAreAddedUpInOrder(t *testing.T) {
	t.Parallel()
	const module, text = `{"type":"module","line":1,"filename":"a.wasm"}`, `{"type":"assert_malformed","line":2,"filename":"a.wat","module_type":"text"}`
	files := fstest.MapFS{
		"b.json": {Data: []byte(`{"commands":[` + module + `]}`)},
		"a.json": {Data: []byte(`{"commands":[` + module + `,` + text + `]}`)},
		"a.wasm": {Data: recursive()},
	}
	r, err := Run(t.Context(), files, config(t, wazero.NewRuntimeConfigInterpreter(), api.CoreFeaturesV2))
	if err != nil {
		t.Fatal(err)
	}
	if r.Modules != 2 || r.Assertions != 1 || r.Text != 1 || len(r.Faults()) > 0 {
		t.Errorf("%d modules, %d assertions, %d of text, faults %v; want 2, 1, 1 and none", r.Modules, r.Assertions, r.Text, r.Faults())
	}
	var order []string
	for _, o := range r.Outcomes {
		order = append(order, o.File)
	}
	if diff := cmp.Diff([]string{"a.json", "a.json", "b.json"}, order); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
}
