package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// reasons returns the reasons of a report as texts.
func reasons(r *Report) []string {
	var texts []string
	for i := range r.Refused {
		texts = append(texts, r.Refused[i].Error())
	}
	return texts
}

// varied returns a plugin with at least one of every kind of section and instruction that a
// report describes.
func varied() []byte {
	m := wasmtest.Plugin(wasmtest.Warn, wasmtest.WASI("sched_yield"))
	m.Replace(4, []byte("\x01\x70\x00\x08"))
	m.Replace(5, []byte("\x01\x01\x01\x10"))
	m.Replace(9, []byte("\x02"+"\x00\x41\x00\x0b\x02\x02\x02"+"\x01\x00\x01\x02"))
	m.Global(wasmtest.I32, true, wasmtest.I32Const(5))
	m.Global(wasmtest.I64, false, wasmtest.I64Const(5))
	m.Data(16, "hello")
	m.Data(64, "you")
	m.Init(wasmtest.I32Const(0))
	m.Export("of_no_interest", 2)
	m.Admit(
		wasmtest.Block(wasmtest.Loop(wasmtest.I32Const(0), wasmtest.BrIf(0), wasmtest.Loop())),
		wasmtest.Code{0x43, 0, 0, 0x80, 0x3f}, wasmtest.Drop, // f32.const 1
		wasmtest.I32Const(1), wasmtest.I32Const(2), wasmtest.I32Const(3), wasmtest.I32Add, wasmtest.I32Add,
	)
	m.Filter(wasmtest.I32Const(0))
	return m.Bytes()
}

func TestInspectRefusesByTheCapsOfItsOptions(t *testing.T) {
	t.Parallel()
	binary := varied()
	for name, test := range map[string]struct {
		change func(*verify.Caps)
		want   string
	}{
		"the module's length": {func(c *verify.Caps) { c.Module = len(binary) - 1 }, "the module has "},
		"its code's":          {func(c *verify.Caps) { c.Code = 8 }, "bytes of code: at most 8 are supported"},
		"its metered code's":  {func(c *verify.Caps) { c.Metered = 8 }, "with what counts its fuel the code has more than 8 bytes"},
		"its globals":         {func(c *verify.Caps) { c.Counts[module.SectionGlobal] = 1 }, "2 "},
	} {
		caps := verify.Default()
		test.change(&caps)
		got := reasons(Inspect(binary, WithCaps(caps)))
		if len(got) != 1 || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: reasons %q, want one with %q", name, got, test.want)
		}
	}
	if got := reasons(Inspect(binary, WithCaps(verify.Default()))); len(got) > 0 {
		t.Errorf("reasons %q with the default caps", got)
	}
}

func TestInspectShowsWhatAModuleConsistsOf(t *testing.T) {
	t.Parallel()
	binary := varied()
	got := Inspect(binary)
	if metered := got.Contents.MeteredBytes; metered <= got.Contents.CodeBytes {
		t.Errorf("%d bytes of code are %d when metered", got.Contents.CodeBytes, metered)
	}
	got.Contents.MeteredBytes = 0
	sum, most := sha256.Sum256(binary), uint64(16)
	want := &Report{
		Size: len(binary), SHA256: hex.EncodeToString(sum[:]), Refused: []Refusal{},
		Contents: &Contents{
			Markers: []string{"wardlet_abi_1_0"}, Hooks: []string{"admit", "filter"},
			Imports: []Imported{
				{"wardlet1", "warn", "function", "(i32, i32) -> ()"},
				{"wasi_snapshot_preview1", "sched_yield", "function", "() -> (i32)"},
			},
			Exports: []Exported{
				{"memory", "memory", ""},
				{"wardlet_init", "function", "() -> (i32)"},
				{"wardlet_admit", "function", "() -> (i32)"},
				{"wardlet_filter", "function", "() -> (i32)"},
			},
			OtherExports: 1,
			Memory:       &MemorySize{Pages: 1, MostPages: &most},
			Tables:       1, TableEntries: 8, ElementSegments: 2, Elements: 3,
			DataSegments: 2, DataBytes: 8, Globals: 2, MutableGlobals: 1,
			Functions: 4, Loops: 2, DeepestNesting: 3, MostLocals: 4, HighestStack: 3, LargestFunction: 37,
			Floats: true, CodeBytes: 60,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	e, _ := testEngine(t)
	p, err := e.Load(t.Context(), binary, testOptions())
	if err != nil {
		t.Fatalf("what Inspect accepts is not loaded: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestInspectGivesEveryReasonWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		want   []string
		more   bool
	}{
		"nothing": {module: complete(func(*wasmtest.Module) {})},
		"without hooks": {
			module: wasmtest.NoHooks(),
		},
		"a name of the host's": {
			module: complete(func(m *wasmtest.Module) { m.Export("wardlet:fuel", 0) }),
			want:   []string{`AbiMismatch: export section, export 3, at byte 0x4a: the module exports "wardlet:fuel": names that begin with "wardlet:" are the host's`},
		},
		"a text": {
			module: []byte("#!/bin/sh\n"),
			want:   []string{`AbiMismatch: at byte 0x0: not a WebAssembly module: it does not begin with \0asm and a version`},
		},
		"a header alone": {
			module: []byte("\x00asm\x01\x00\x00\x00"),
			want: []string{
				`AbiMismatch: at byte 0x8: the module exports no function wardlet_abi_1_0: it is not a Wardlet plugin, or its SDK was not linked`,
				`AbiMismatch: at byte 0x8: the module defines 0 memories: it must have exactly one`,
			},
		},
		"all at once": {
			module: faulty(), more: true,
			want: []string{
				`AbiMismatch: export section, at byte 0x57: the module is made for wardlet_abi_2_0: only wardlet_abi_1 is supported in this version`,
				`HostDenied: import section, import 0, at byte 0x15: the module asks for "open" of "env", which is not offered; docs/abi.md lists what is`,
				`HostDenied: import section, import 2, at byte 0x30: the module asks for "close" of "env", which is not offered; docs/abi.md lists what is`,
				`AbiMismatch: import section, import 1, at byte 0x20: the module imports path of wardlet1 as () -> (): its type must be (i32, i32) -> (i32)`,
				`AbiMismatch: export section, export 1, at byte 0x61: the module exports wardlet_admit as (i32) -> (): its type must be () -> (i32)`,
				`MemoryLimit: memory section, memory 0, at byte 0x4b: the module begins with 65 pages of memory, the policy allows 64: raise memory_pages of its [limits]`,
				`AbiMismatch: start section, at byte 0x85: the module has a start function: it would run before the sandbox is ready; export the function as _initialize instead`,
				`AbiMismatch: global section, global 0, at byte 0x50: it is mutable and of type funcref: it could not be put back after a call`,
				`AbiMismatch: data section, data 0, at byte 0xa5: 2 bytes at 0x40ffff: the memory begins with 4259840`,
				`AbiMismatch: code section, function 4, at byte 0x92: table.grow: tables that change could not be put back after a call`,
				`AbiMismatch: code section, function 5, at byte 0x9d: table.grow: tables that change could not be put back after a call`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Inspect(test.module)
			if diff := cmp.Diff(test.want, reasons(r)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if r.MoreRefused != test.more {
				t.Errorf("more reasons: %v", r.MoreRefused)
			}
		})
	}
}

// loadable reports whether a module would pass all checks before it is compiled.
func loadable(binary []byte) bool {
	caps := verify.Default()
	m, err := verified(context.Background(), binary, caps, &Options{MemoryPages: defaultMemoryPages})
	if err != nil {
		return false
	}
	_, err = meter.Rewrite(context.Background(), m, caps.Metered)
	return err == nil
}

func TestInspectRefusesWhatLoadingRefuses(t *testing.T) {
	t.Parallel()
	good := varied()
	if !loadable(good) {
		t.Fatal("the module is not loadable")
	}
	for end := range good {
		if torn := good[:end]; (len(Inspect(torn).Refused) == 0) != loadable(torn) {
			t.Errorf("the first %d bytes: loadable is %v, found %v", end, loadable(torn), reasons(Inspect(torn)))
		}
	}
	accepted := 0
	for at := range good {
		for bit := range 8 {
			flipped := bytes.Clone(good)
			flipped[at] ^= 1 << bit
			r := Inspect(flipped)
			if want := loadable(flipped); (len(r.Refused) == 0) != want {
				t.Errorf("bit %d of byte %#x: accepted is %v, want %v: %v", bit, at, !want, want, reasons(r))
			} else if want {
				accepted++
			}
		}
	}
	if accepted == 0 || accepted == 8*len(good) {
		t.Errorf("%d of %d changed modules are accepted", accepted, 8*len(good))
	}
}

func TestInspectBoundsWhatItTells(t *testing.T) {
	t.Parallel()
	imports := make([]wasmtest.Import, 250)
	for i := range imports {
		imports[i] = wasmtest.Import{Module: "env", Name: strings.Repeat("n", 2000)}
	}
	many := complete(func(m *wasmtest.Module) {
		for range 900 {
			m.Export("wardlet_abi_9_9", 0)
		}
	})
	wide := wasmtest.Plugin(imports...)
	types := make([]wasmtest.Type, 1<<20)
	for i := range types {
		types[i] = wasmtest.I64
	}
	f := wide.Func(types, nil, nil)
	for range 900 {
		wide.Export("wardlet_admit", f)
	}
	broken := wasmtest.Plugin()
	for range 30 {
		broken.Func(nil, nil, nil, wasmtest.Code{0xfc, 0x0f, 0x00}) // table.grow, without a table
	}
	stuck := complete(func(m *wasmtest.Module) {
		for range 30 {
			m.Global(wasmtest.FuncRef, true, wasmtest.Code{0xd0, 0x70})
		}
	})
	for name, test := range map[string]struct {
		module  []byte
		reasons int
		more    bool
	}{
		"many markers":                {module: many},
		"wide types and long imports": {module: wide.Bytes(), reasons: maxReasons, more: true},
		"many globals for ever":       {module: stuck, reasons: maxShape, more: true},
		"many broken functions":       {module: broken.Bytes(), reasons: maxShape, more: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Inspect(test.module)
			if len(r.Refused) != test.reasons || r.MoreRefused != test.more {
				t.Errorf("%d reasons, more: %v; want %d and %v", len(r.Refused), r.MoreRefused, test.reasons, test.more)
			}
			if n := len(r.Contents.Markers); n > maxMarkers {
				t.Errorf("%d markers", n)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > 512<<10 {
				t.Errorf("the report has %d bytes", len(text))
			}
		})
	}
}

func TestInspectEscapesNames(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\u202e\u009b"
	m := wasmtest.Plugin(wasmtest.Import{Module: evil, Name: evil})
	m.Export("wardlet_abi_"+evil, 1)
	m.Export("wardlet_abi_1_"+evil, m.Func([]wasmtest.Type{wasmtest.I32}, nil, nil))
	r := Inspect(m.Bytes())
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `\u001b[2J\u202e\u009b`
	for _, name := range []string{r.Contents.Imports[0].Module, r.Contents.Imports[0].Name, r.Contents.Markers[1][len("wardlet_abi_"):]} {
		if name != want {
			t.Errorf("a name is shown as %q, want %q", name, want)
		}
	}
	shown := string(text) + strings.Join(reasons(r), "")
	if i := strings.IndexFunc(shown, func(c rune) bool { return slices.Contains([]rune(evil)[0:1], c) || c == 0x202e || c == 0x9b }); i >= 0 {
		t.Errorf("the report would steer a terminal: %q", shown[i:])
	}
}

// FuzzInspect checks with arbitrary bytes that Inspect does not panic, and that it refuses
// exactly the modules that loading refuses before it compiles.
func FuzzInspect(f *testing.F) {
	f.Add(varied())
	f.Add(wasmtest.Denying("object.metadata.name", "x"))
	f.Add(wasmtest.UnknownImport())
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, binary []byte) {
		if r := Inspect(binary); (len(r.Refused) == 0) != loadable(binary) {
			t.Errorf("reasons %v, but loadable is %v", reasons(r), loadable(binary))
		}
	})
}
