package wasm

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// complete returns a valid plugin after change has modified it.
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
		"an empty file":       {module: nil, want: `AbiMismatch: at byte 0x0: not a WebAssembly module`},
		"a text":              {module: []byte("#!/bin/sh\n"), want: `AbiMismatch: at byte 0x0: not a WebAssembly module`},
		"a component":         {module: []byte("\x00asm\x0d\x00\x01\x00"), want: `AbiMismatch: at byte 0x4: a WebAssembly component`},
		"another version":     {module: []byte("\x00asm\x02\x00\x00\x00"), want: `AbiMismatch: at byte 0x4: a WebAssembly module of another version than 1`},
		"a header alone":      {module: []byte("\x00asm\x01\x00\x00\x00"), want: `AbiMismatch: at byte 0x8: the module exports no function wardlet_abi_1_0`},
		"a torn module":       {module: complete(none)[:40], want: `AbiMismatch: at byte 0x1e: 44 bytes are announced, 10 are left`},
		"a torn section":      {module: complete(func(m *wasmtest.Module) { m.Replace(7, []byte{9}) }), want: `AbiMismatch: export section, at byte 0x1e: 9 elements are announced, 0 bytes are left`},
		"no marker":           {module: marked("wardlet_abi"), want: `exports no function wardlet_abi_1_0: it is not a Wardlet plugin`},
		"another major ABI":   {module: marked("wardlet_abi_2_0"), want: `made for wardlet_abi_2_0: only wardlet_abi_1 is supported in this version`},
		"a marker no ABI has": {module: marked("wardlet_abi_1_x"), want: `made for wardlet_abi_1_x`},
		"a missing hook":      {module: wasmtest.NoHooks(), want: `AbiMismatch: export section, at byte 0x19: the policy names the hook "admit", but the module exports no function wardlet_admit`},
		"an unknown hook":     {module: complete(none), hooks: []string{"admit", "score"}, want: `AbiMismatch: export section, at byte 0x1e: the hook "score" is not supported in this version`},
		"an unknown import":   {module: wasmtest.UnknownImport(), want: `HostDenied: import section, import 0, at byte 0x15: the module asks for "open_socket" of "env", which is not offered`},
		"an unknown import of the ABI": {
			module: wasmtest.Plugin(wasmtest.Import{Module: "wardlet1", Name: "lookup"}).Bytes(), hooks: []string{},
			want: `"lookup" of "wardlet1", which is not offered; docs/abi.md lists what is`,
		},
		"an unknown import of WASI": {
			module: wasmtest.Plugin(wasmtest.WASI("path_open"), wasmtest.WASI("fd_read")).Bytes(), hooks: []string{},
			want: `docs/abi.md lists what is; also HostDenied: import section, import 1, at byte 0x38: the module asks for "fd_read" of`,
		},
		"many unknown imports": {
			module: wasmtest.Plugin(make([]wasmtest.Import, 12)...).Bytes(), hooks: []string{},
			want: "which is not offered; docs/abi.md lists what is; and 2 others, which `wardlet policy inspect` shows",
		},
		"a marker of another type": {
			module: complete(func(m *wasmtest.Module) {
				m.Export("wardlet_abi_1_1", m.Func(nil, []wasmtest.Type{wasmtest.I32}, nil, wasmtest.I32Const(0)))
			}),
			want: `AbiMismatch: export section, export 3, at byte 0x4b: the module exports wardlet_abi_1_1 as () -> (i32): its type must be () -> ()`,
		},
		"an import of another type": {
			module: wasmtest.Plugin(wasmtest.Import{Module: "wardlet1", Name: "path"}).Bytes(), hooks: []string{},
			want: `AbiMismatch: import section, import 0, at byte 0x11: the module imports path of wardlet1 as () -> (): its type must be (i32, i32) -> (i32)`,
		},
		"a hook of another type": {
			module: func() []byte {
				m := wasmtest.Plugin()
				m.Export("wardlet_admit", m.Func([]wasmtest.Type{wasmtest.I32}, nil, nil))
				return m.Bytes()
			}(),
			want: `AbiMismatch: export section, export 2, at byte 0x3a: the module exports wardlet_admit as (i32) -> (): its type must be () -> (i32)`,
		},
		"an imported memory": {
			module: complete(func(m *wasmtest.Module) { m.Replace(2, []byte("\x01\x03env\x06memory\x02\x00\x01")) }),
			want:   `imports the memory "memory" of "env": only functions can be imported`,
		},
		"no memory":       {module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{0}) }), want: `export section, export 0, at byte 0x25: there is no memory 0`},
		"two memories":    {module: complete(func(m *wasmtest.Module) { m.Memory(1) }), want: `memory section, at byte 0x19: 2 elements: at most 1 are supported`},
		"a shared memory": {module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{1, 3, 1, 1}) }), want: `memory section, memory 0, at byte 0x1a: limits of kind 0x3: shared and 64-bit memories and tables are not supported`},
		"a memory beyond the limit": {
			module: complete(func(m *wasmtest.Module) { m.Replace(5, []byte{1, 0, 5}) }),
			want:   `MemoryLimit: memory section, memory 0, at byte 0x1a: the module begins with 5 pages of memory, the policy allows 4: raise memory_pages`,
		},
		"a memory that is not exported": {
			module: complete(func(m *wasmtest.Module) {
				m.Replace(7, []byte("\x02\x0fwardlet_abi_1_0\x00\x00\x0dwardlet_admit\x00\x01"))
			}),
			want: `does not export its memory as "memory"`,
		},
		"a name of the host's": {
			module: complete(func(m *wasmtest.Module) { m.Export("wardlet:fuel", 0) }),
			want:   `AbiMismatch: export section, export 3, at byte 0x4a: the module exports "wardlet:fuel": names that begin with "wardlet:" are the host's`,
		},
		"a start section": {module: complete(func(m *wasmtest.Module) { m.Start(0) }), want: `start section, at byte 0x4c: the module has a start function: it would run before the sandbox is ready`},
		"a mutable global that cannot be put back": {
			module: complete(func(m *wasmtest.Module) {
				m.Global(wasmtest.I32, true, wasmtest.I32Const(0))
				m.Global(wasmtest.FuncRef, true, wasmtest.Code{0xd0, 0x70})
			}),
			want: `AbiMismatch: global section, global 1, at byte 0x24: it is mutable and of type funcref: it could not be put back after a call`,
		},
		"code that is not valid": {
			module: complete(func(m *wasmtest.Module) {
				m.Func(nil, nil, nil, wasmtest.I64Const(1), wasmtest.Code{0x45}, wasmtest.Drop)
			}),
			want: `AbiMismatch: the module does not compile: `,
		},
		"a table that takes gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(4, []byte("\x01\x70\x00\x80\x80\x80\x40")) }),
			want:   `AbiMismatch: table section, table 0, at byte 0x1a: tables of 134217728 entries together: at most 65536 are supported`,
		},
		"locals that take gigabytes": {
			module: complete(func(m *wasmtest.Module) {
				m.Replace(10, []byte("\x02\x08\x01\xff\xff\xff\xff\x0f\x7f\x0b\x02\x00\x0b"))
			}),
			want: `4294967295 local variables: at most 1000 are supported in a function`,
		},
		"lists that take gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(9, []byte("\xcf\xcf\xcf\x0b")) }),
			want:   `AbiMismatch: element section, at byte 0x4c: 24373199 elements are announced, 0 bytes are left`,
		},
		"data that take gigabytes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(11, []byte("\x01\x00\x41\x00\x0b\xff\xff\xff\xff\x0f")) }),
			want:   `data section, data 0, at byte 0x69: 4294967295 bytes are announced, 0 are left`,
		},
		"elements of an unknown kind": {
			module: complete(func(m *wasmtest.Module) { m.Replace(9, []byte{1, 8}) }),
			want:   `element section, element 0, at byte 0x4d: elements of kind 8 are not supported`,
		},
		"data of an unknown kind": {
			module: complete(func(m *wasmtest.Module) { m.Replace(11, []byte{1, 3}) }),
			want:   `data section, data 0, at byte 0x60: data of kind 3 is not supported`,
		},
		"an initialiser that computes": {
			module: complete(func(m *wasmtest.Module) { m.Replace(6, []byte{1, 0x7f, 0, 0x6a, 0x0b}) }),
			want:   `global section, global 0, at byte 0x21: an instruction that is not supported in an initialiser`,
		},
		"a section of another age": {
			module: append(complete(none), 13, 1, 0),
			want:   `AbiMismatch: at byte 0x5d: section 13 is not supported`,
		},
		"a type that is no function": {
			module: complete(func(m *wasmtest.Module) { m.Replace(1, []byte{1, 0x5f, 0}) }),
			want:   `type section, type 0, at byte 0xb: a type of form 0x5f: only functions are supported`,
		},
		"a hook that is not there": {
			module: complete(func(m *wasmtest.Module) { m.Replace(3, []byte{1, 0}) }),
			want:   `AbiMismatch: export section, export 2, at byte 0x48: there is no function 1`,
		},
		"an input area that is no function": {
			module: complete(func(m *wasmtest.Module) {
				m.Replace(7, []byte("\x04\x06memory\x02\x00\x0fwardlet_abi_1_0\x00\x00\x0dwardlet_admit\x00\x01\x0dwardlet_input\x02\x00"))
			}),
			want: `AbiMismatch: export section, export 3, at byte 0x4a: the module exports wardlet_input, but not as a function`,
		},
		"data outside of the memory": {
			module: complete(func(m *wasmtest.Module) { m.Data(1<<16-1, "xy") }),
			want:   `AbiMismatch: data section, data 0, at byte 0x60: 2 bytes at 0xffff: the memory begins with 65536`,
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

// faulty returns a module with an error of every kind.
func faulty() []byte {
	grows := wasmtest.Code{0xd0, 0x70, 0x41, 0x00, 0xfc, 0x0f, 0x00, 0x1a} // ref.null, i32.const, table.grow, drop
	m := wasmtest.New(wasmtest.Import{Module: "env", Name: "open"}, wasmtest.Import{Module: "wardlet1", Name: "path"}, wasmtest.Import{Module: "env", Name: "close"})
	m.Memory(65)
	m.Global(wasmtest.FuncRef, true, wasmtest.Code{0xd0, 0x70})
	m.Export("wardlet_admit", m.Func([]wasmtest.Type{wasmtest.I32}, nil, nil))
	m.Export("wardlet_abi_2_0", m.Func(nil, nil, nil, grows))
	m.Func(nil, nil, nil, grows)
	m.Start(4)
	m.Replace(4, []byte("\x01\x70\x00\x01"))
	m.Data(65<<16-1, "xy")
	return m.Bytes()
}

func TestLoadingTellsWhatInspectingShows(t *testing.T) {
	t.Parallel()
	many := wasmtest.Plugin(make([]wasmtest.Import, 40)...)
	long := wasmtest.Plugin(slices.Repeat([]wasmtest.Import{{Module: "env", Name: strings.Repeat("\x01", 500)}}, 3)...)
	for name, test := range map[string]struct {
		module []byte
		told   int
		end    string
	}{
		"of every kind": {faulty(), 10, "; and 1 or more others, which `wardlet policy inspect` shows"},
		"one":           {wasmtest.UnknownImport(), 1, ""},
		"many":          {many.Bytes(), 10, "; and 30 others, which `wardlet policy inspect` shows"},
	} {
		want := strings.Join(reasons(Inspect(test.module))[:test.told], "; also ") + test.end
		if got := refusal(t, test.module); got.Error() != want {
			t.Errorf("%s:\n%v\nwant\n%s", name, got, want)
		}
	}
	got := refusal(t, long.Bytes()).Error()
	if len(got) > maxToldBytes+100 || !strings.HasSuffix(got, "; and 2 others, which `wardlet policy inspect` shows") {
		t.Errorf("%d bytes about long names: %s", len(got), got)
	}
}

func TestAFailureHasTheCodeOfItsFirstReason(t *testing.T) {
	t.Parallel()
	large := func(imports ...wasmtest.Import) []byte {
		m := wasmtest.Plugin(imports...)
		m.Replace(5, []byte{1, 0, 65})
		m.Start(0)
		return m.Bytes()
	}
	for want, module := range map[abi.FailureCode][]byte{
		abi.AbiMismatch: faulty(),
		abi.HostDenied:  large(wasmtest.Import{Module: "env", Name: "open"}),
		abi.MemoryLimit: large(),
	} {
		if got := refusal(t, module); got.Code != want {
			t.Errorf("want %s: %v", want, got)
		}
	}
}

// refusal returns why a module is refused for a policy without hooks and with default limits.
func refusal(t *testing.T, module []byte) *abi.Failure {
	t.Helper()
	e, _ := testEngine(t)
	o := testOptions()
	o.Hooks, o.MemoryPages = nil, defaultMemoryPages
	_, err := e.Load(t.Context(), module, o)
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	return failure
}

func TestHigherMinorVersionsAreAccepted(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	m.Memory(1)
	m.Export("wardlet_abi_2_0", m.Func(nil, nil, nil))
	m.Export("wardlet_abi_1_70000", m.Func(nil, nil, nil))
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
		"fuel is 0: it must be at least 1":           func(o *Options) { o.Fuel = 0 },
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
