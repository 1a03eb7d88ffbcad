package wasm

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

// complete is a plugin that is valid, with what change makes of it.
func complete(change func(m *wasmtest.Module)) []byte {
	m := wasmtest.Plugin()
	m.Admit(wasmtest.I32Const(0))
	change(m)
	return m.Bytes()
}

func TestModulesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	none := func(*wasmtest.Module) {}
	marked := func(marker string) []byte {
		m := wasmtest.New()
		m.Memory(1)
		m.Export(marker, m.Func(nil, nil, nil))
		m.Admit(wasmtest.I32Const(0))
		return m.Bytes()
	}
	for name, test := range map[string]struct {
		module []byte
		hooks  []string
		want   string
	}{
		"an empty file":       {module: nil, want: `AbiMismatch: not a WebAssembly module`},
		"a text":              {module: []byte("#!/bin/sh\n"), want: `AbiMismatch: not a WebAssembly module`},
		"a component":         {module: []byte("\x00asm\x0d\x00\x01\x00"), want: `AbiMismatch: a WebAssembly component`},
		"another version":     {module: []byte("\x00asm\x02\x00\x00\x00"), want: `AbiMismatch: a WebAssembly module of version 2`},
		"a header alone":      {module: []byte("\x00asm\x01\x00\x00\x00"), want: `exports no function wardlet_abi_1_0`},
		"a torn module":       {module: complete(none)[:40], want: `AbiMismatch: the module is torn: at byte `},
		"a torn section":      {module: complete(func(m *wasmtest.Module) { m.Replace(7, []byte{9}) }), want: `AbiMismatch: export section: at byte `},
		"no marker":           {module: marked("wardlet_abi"), want: `exports no function wardlet_abi_1_0: it is not a Wardlet plugin`},
		"another major ABI":   {module: marked("wardlet_abi_2_0"), want: `made for wardlet_abi_2_0: only wardlet_abi_1 is supported in this version`},
		"a marker no ABI has": {module: marked("wardlet_abi_1_x"), want: `made for wardlet_abi_1_x`},
		"a missing hook":      {module: wasmtest.NoHooks(), want: `the policy names the hook "admit", but the module exports no function wardlet_admit`},
		"an unknown hook":     {module: complete(none), hooks: []string{"admit", "merge"}, want: `AbiMismatch: the hook "merge" is not supported in this version`},
		"an unknown import":   {module: wasmtest.UnknownImport(), want: `HostDenied: the module asks for functions that are not offered: "open_socket" of "env"`},
		"an unknown import of the ABI": {
			module: wasmtest.Plugin(wasmtest.Import{Module: "wardlet1", Name: "lookup"}).Bytes(), hooks: []string{},
			want: `"lookup" of "wardlet1"; docs/abi.md lists those that are`,
		},
		"an unknown import of WASI": {
			module: wasmtest.Plugin(wasmtest.WASI("path_open"), wasmtest.WASI("fd_read")).Bytes(), hooks: []string{},
			want: `"path_open" of "wasi_snapshot_preview1", "fd_read" of "wasi_snapshot_preview1"`,
		},
		"many unknown imports": {
			module: wasmtest.Plugin(make([]wasmtest.Import, 12)...).Bytes(), hooks: []string{},
			want: `"" of "" and 2 more`,
		},
		"an import of another type": {
			module: wasmtest.Plugin(wasmtest.Import{Module: "wardlet1", Name: "path"}).Bytes(), hooks: []string{},
			want: `AbiMismatch: the module imports path of wardlet1 as () -> (): its type must be (i32, i32) -> (i32)`,
		},
		"a hook of another type": {
			module: func() []byte {
				m := wasmtest.Plugin()
				m.Export("wardlet_admit", m.Func([]wasmtest.Type{wasmtest.I32}, nil, nil))
				return m.Bytes()
			}(),
			want: `AbiMismatch: the module exports wardlet_admit as (i32) -> (): its type must be () -> (i32)`,
		},
		"an imported memory": {
			module: complete(func(m *wasmtest.Module) { m.Replace(2, []byte("\x01\x03env\x06memory\x02\x00\x01")) }),
			want:   `imports the memory "memory" of "env": only functions can be imported`,
		},
		"no memory":       {module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{0}) }), want: `defines 0 memories`},
		"two memories":    {module: complete(func(m *wasmtest.Module) { m.Memory(1) }), want: `defines 2 memories: it must have exactly one`},
		"a shared memory": {module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{1, 3, 1, 1}) }), want: `the memory is shared`},
		"a memory beyond the limit": {
			module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{1, 0, 5}) }),
			want:   `MemoryLimit: the module begins with 5 pages of memory, the policy allows 4: raise memory_pages`,
		},
		"a memory that is not exported": {
			module: complete(func(m *wasmtest.Module) {
				m.Replace(7, []byte("\x02\x0fwardlet_abi_1_0\x00\x00\x0dwardlet_admit\x00\x01"))
			}),
			want: `does not export its memory as "memory"`,
		},
		"a start section": {module: complete(func(m *wasmtest.Module) { m.Start(0) }), want: `the module has a start section`},
		"a mutable global that cannot be put back": {
			module: complete(func(m *wasmtest.Module) {
				m.Global(wasmtest.I32, true, wasmtest.I32Const(0))
				m.Global(wasmtest.FuncRef, true, wasmtest.Code{0xd0, 0x70})
			}),
			want: `AbiMismatch: global 1 is mutable and of type funcref: it could not be put back after a call`,
		},
		"code that is not valid": {
			module: complete(func(m *wasmtest.Module) { m.Func(nil, nil, nil, wasmtest.Drop) }),
			want:   `AbiMismatch: the module does not compile: `,
		},
		"a table that takes gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(4, []byte("\x01\x70\x00\x80\x80\x80\x40")) }),
			want:   `AbiMismatch: table section: at byte 32: tables of 134217728 entries together: at most 65536 are supported in this version`,
		},
		"locals that take gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(10, []byte("\x01\x08\x01\xff\xff\xff\xff\x0f\x7f\x0b")) }),
			want:   `a function with 4294967295 local variables: at most 50000 are supported in this version`,
		},
		"lists that take gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(9, []byte("\xcf\xcf\xcf\x0b")) }),
			want:   `AbiMismatch: element section: at byte 80: 24373199 elements announced, 0 bytes are left`,
		},
		"data that take gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(11, []byte("\x01\x00\x41\x00\x0b\xff\xff\xff\xff\x0f")) }),
			want:   `bytes announced, 0 are left`,
		},
		"elements of an unknown kind": {
			module: complete(func(m *wasmtest.Module) { m.Replace(9, []byte{1, 8}) }),
			want:   `elements of unknown kind 8`,
		},
		"data of an unknown kind": {
			module: complete(func(m *wasmtest.Module) { m.Replace(11, []byte{1, 3}) }),
			want:   `data of unknown kind 3`,
		},
		"an initialiser that computes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(6, []byte{1, 0x7f, 0, 0x6a, 0x0b}) }),
			want:   `unknown instruction 0x6a in an initialiser`,
		},
		"a section of another age": {
			module: append(complete(none), 13, 1, 0),
			want:   `AbiMismatch: section 13 is not supported in this version`,
		},
		"a type that is no function": {
			module: complete(func(m *wasmtest.Module) { m.Replace(1, []byte{1, 0x5f, 0}) }),
			want:   `a type of form 0x5f: only functions are supported in this version`,
		},
		"a hook that is not there": {
			module: complete(func(m *wasmtest.Module) { m.Replace(3, []byte{1, 0}) }),
			want:   `AbiMismatch: the module exports wardlet_admit as a function it does not have`,
		},
		"an input area that is no function": {
			module: complete(func(m *wasmtest.Module) {
				m.Replace(7, []byte("\x04\x06memory\x02\x00\x0fwardlet_abi_1_0\x00\x00\x0dwardlet_admit\x00\x01\x0dwardlet_input\x02\x00"))
			}),
			want: `AbiMismatch: the module exports wardlet_input, but not as a function`,
		},
		"data outside of the memory": {
			module: complete(func(m *wasmtest.Module) { m.Data(1<<16-1, "xy") }),
			want:   `Trap: the module cannot be instantiated: `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := testEngine(t)
			o := testOptions()
			if test.hooks != nil {
				o.Hooks = test.hooks
			}
			p, err := e.Load(t.Context(), test.module, o)
			if err == nil {
				_ = p.Close()
				t.Fatal("the module was loaded")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func TestHigherMinorVersionsAreAccepted(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	m.Memory(1)
	m.Export("wardlet_abi_2_0", m.Func(nil, nil, nil))
	m.Export("wardlet_abi_1_7", m.Func(nil, nil, nil))
	m.Admit(wasmtest.I32Const(3))
	p, _ := load(t, m.Bytes())
	if got := admit(t, p); got.Answer != "abstain" {
		t.Errorf("answer %q", got.Answer)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(o *Options){
		"memory_pages is 0: it must be 1 to 1024":    func(o *Options) { o.MemoryPages = 0 },
		"memory_pages is 1025: it must be 1 to 1024": func(o *Options) { o.MemoryPages = 1025 },
		"output_bytes is 0: it must be at least 1":   func(o *Options) { o.OutputBytes = 0 },
		"settings.x: a value of type chan int is not supported in this version": func(o *Options) {
			o.Settings = map[string]any{"x": make(chan int)}
		},
	} {
		e, _ := testEngine(t)
		o := testOptions()
		change(&o)
		if _, err := e.Load(t.Context(), wasmtest.Answering(0, "", ""), o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// FuzzLayout reads modules that are broken in every way. What the reader
// accepts and wazero too, must be worth the same rewritten: it begins with the
// same memory, or fails to begin.
func FuzzLayout(f *testing.F) {
	globals := wasmtest.Plugin()
	globals.Global(wasmtest.I64, true, wasmtest.I64Const(-5))
	globals.Global(wasmtest.F64, true, wasmtest.Code("\x44\x00\x00\x00\x00\x00\x00\xf0\x3f"))
	globals.Global(wasmtest.F32, false, wasmtest.Code("\x43\x00\x00\x80\x3f"))
	globals.Admit(wasmtest.I32Const(0))
	globals.Data(100, "a")
	globals.Data(102, "b")
	globals.Data(9, "c")
	tables := wasmtest.Plugin()
	tables.Replace(4, []byte("\x02\x70\x00\x02\x6f\x01\x01\x05"))
	tables.Replace(9, []byte("\x02\x00\x41\x01\x0b\x01\x00\x05\x70\x02\xd2\x00\x0b\xd0\x70\x0b"))
	tables.Admit(wasmtest.Code{0xd0, 0x70}, wasmtest.I32Const(1), tableGrow(0))
	for _, module := range [][]byte{
		tables.Bytes(),
		wasmtest.NoHooks(), wasmtest.Denying("object.spec", "x"), wasmtest.UnknownImport(), globals.Bytes(),
		complete(func(m *wasmtest.Module) { m.Start(0) }),
	} {
		f.Add(module)
	}
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, module []byte) {
		l, err := readLayout(module)
		if err != nil {
			return
		}
		o := testOptions()
		_ = l.verify(&o)
		if l.verifyGlobals() != nil || len(l.exports) == 0 || l.start {
			return
		}
		rewritten, names := l.rewrite()
		was, valid, began := begin(t, r, module)
		if !valid { // it may have become valid: sections of no meaning are gone
			return
		}
		is, stillValid, stillBegan := begin(t, r, rewritten)
		if !stillValid || began != stillBegan || !bytes.Equal(was, is) {
			t.Fatalf("begins %t; with globals %v exported and its data joined valid %t, begins %t, same memory %t",
				began, names, stillValid, stillBegan, bytes.Equal(was, is))
		}
	})
}

// begin is what a module's memory holds before any of it runs.
func begin(t *testing.T, r wazero.Runtime, module []byte) (memory []byte, valid, began bool) {
	t.Helper()
	code, err := r.CompileModule(t.Context(), module)
	if err != nil {
		return nil, false, false
	}
	defer code.Close(t.Context())
	instance, err := r.InstantiateModule(t.Context(), code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, true, false
	}
	defer instance.Close(t.Context())
	if m := instance.Memory(); m != nil {
		view, _ := m.Read(0, m.Size())
		memory = bytes.Clone(view)
	}
	return memory, true, true
}

func TestWhatToolchainsWriteIsAccepted(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{
		"elements of every kind": complete(func(m *wasmtest.Module) {
			m.Replace(4, []byte("\x01\x70\x01\x08\x10"))
			m.Replace(9, []byte("\x08"+
				"\x00\x41\x00\x0b\x01\x00"+"\x01\x00\x01\x00"+"\x02\x00\x41\x00\x0b\x00\x01\x00"+"\x03\x00\x01\x00"+
				"\x04\x41\x00\x0b\x01\xd2\x00\x0b"+"\x05\x70\x01\xd0\x70\x0b"+"\x06\x00\x41\x00\x0b\x70\x01\xd2\x00\x0b"+"\x07\x70\x01\xd2\x00\x0b"))
		}),
		"data of every kind": complete(func(m *wasmtest.Module) {
			m.Replace(11, []byte("\x03"+"\x00\x41\x00\x0b\x01a"+"\x01\x01b"+"\x02\x00\x41\x05\x0b\x01c"))
		}),
		"constants of every type": complete(func(m *wasmtest.Module) {
			m.Global(wasmtest.I32, true, wasmtest.I32Const(-1))
			m.Global(wasmtest.I64, true, wasmtest.I64Const(-1<<63))
			m.Global(wasmtest.F32, true, wasmtest.Code("\x43\x00\x00\x80\x3f"))
			m.Global(wasmtest.F64, true, wasmtest.Code("\x44\x00\x00\x00\x00\x00\x00\xf0\x3f"))
			m.Global(wasmtest.V128, false, append(wasmtest.Code{0xfd, 0x0c}, make([]byte, 16)...))
			m.Global(wasmtest.FuncRef, false, wasmtest.Code{0xd2, 0x00})
			m.Global(wasmtest.FuncRef, false, wasmtest.Code{0xd0, 0x70})
		}),
		"sections for debuggers": append(complete(func(*wasmtest.Module) {}), "\x00\x05\x04name\x00\x05\x04name"...),
	} {
		p, _ := load(t, module)
		if got := admit(t, p); got.Answer != "allow" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTooManyMutableGlobalsAreRefused(t *testing.T) {
	t.Parallel()
	module := complete(func(m *wasmtest.Module) {
		for range maxMutableGlobals + 1 {
			m.Global(wasmtest.I32, true, wasmtest.I32Const(0))
		}
	})
	e, _ := testEngine(t)
	if _, err := e.Load(t.Context(), module, testOptions()); err == nil || err.Error() != "AbiMismatch: the module has more than 1024 mutable globals" {
		t.Errorf("error %v", err)
	}
}
