package module_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// everything is a module with all sections, and elements of every kind.
var everything = of(
	section(0, "\x04name\x00"),
	section(1, "\x02\x60\x00\x00\x60\x02\x7f\x7e\x03\x7d\x7c\x7b"),
	section(2, "\x04"+"\x01m\x01f\x00\x01"+"\x01m\x01t\x01\x6f\x01\x02\x05"+"\x00\x00\x02\x00\x01"+"\x01m\x01g\x03\x7e\x01"),
	section(3, "\x02\x00\x01"),
	section(4, "\x01\x70\x00\x03"),
	section(6, "\x05"+"\x7f\x01\x41\x7f\x0b"+"\x7d\x00\x43\x00\x00\x80\x3f\x0b"+"\x7b\x00\xfd\x0c0123456789abcdef\x0b"+"\x70\x01\xd2\x02\x0b"+"\x7e\x00\x23\x00\x0b"),
	section(7, "\x04"+"\x01a\x00\x02"+"\x01b\x01\x01"+"\x00\x02\x00"+"\x06\xe2\x82\xac\xe2\x82\xac\x03\x05"),
	section(8, "\x01"),
	section(9, "\x08"+"\x00\x41\x01\x0b\x01\x00"+"\x01\x00\x01\x01"+"\x02\x01\x41\x02\x0b\x00\x01\x02"+"\x03\x00\x00"+
		"\x04\x41\x03\x0b\x01\xd2\x00\x0b"+"\x05\x70\x02\xd0\x70\x0b\xd2\x01\x0b"+"\x06\x00\x23\x00\x0b\x6f\x01\xd0\x6f\x0b"+"\x07\x6f\x00"),
	section(12, "\x03"),
	section(0, "\x01x"),
	section(10, "\x02"+"\x02\x00\x0b"+"\x08\x02\x03\x7f\x01\x70\x00\x00\x0b"),
	section(11, "\x03"+"\x00\x41\x7f\x0b\x02ab"+"\x01\x01c"+"\x02\x00\x23\x00\x0b\x00"),
	section(0, "\x01y"),
)

func TestEverySectionIsRead(t *testing.T) {
	t.Parallel()
	got, err := module.Parse(everything, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	bounded := func(from, to uint64) module.Limits { return module.Limits{Min: from, Max: to, Bounded: true} }
	atLeast := func(from uint64) module.Limits { return module.Limits{Min: from, Max: from} }
	want := &module.Module{
		Types: []module.FunctionType{
			{},
			{Params: []module.ValueType{module.I32, module.I64}, Results: []module.ValueType{module.F32, module.F64, module.V128}},
		},
		Imports: []module.Import{
			{Module: "m", Name: "f", Kind: module.KindFunction, Type: 1},
			{Module: "m", Name: "t", Kind: module.KindTable},
			{Kind: module.KindMemory},
			{Module: "m", Name: "g", Kind: module.KindGlobal},
		},
		Functions: []uint32{1, 0, 1},
		Tables:    []module.Table{{Type: module.ExternRef, Limits: bounded(2, 5)}, {Type: module.FuncRef, Limits: atLeast(3)}},
		Memories:  []module.Memory{{Limits: atLeast(1)}},
		Globals: []module.Global{
			{Type: module.I64, Mutable: true},
			{Type: module.I32, Mutable: true, Init: []byte("\x41\x7f\x0b")},
			{Type: module.F32, Init: []byte("\x43\x00\x00\x80\x3f\x0b")},
			{Type: module.V128, Init: []byte("\xfd\x0c0123456789abcdef\x0b")},
			{Type: module.FuncRef, Mutable: true, Init: []byte("\xd2\x02\x0b")},
			{Type: module.I64, Init: []byte("\x23\x00\x0b")},
		},
		Exports: []module.Export{
			{Name: "a", Kind: module.KindFunction, Index: 2},
			{Name: "b", Kind: module.KindTable, Index: 1},
			{Kind: module.KindMemory},
			{Name: "€€", Kind: module.KindGlobal, Index: 5},
		},
		Start: 1,
		Elements: []module.Element{
			{At: []byte("\x41\x01\x0b"), Type: module.FuncRef, Functions: []uint32{0}},
			{Mode: module.Passive, Type: module.FuncRef, Functions: []uint32{1}},
			{Table: 1, At: []byte("\x41\x02\x0b"), Type: module.FuncRef, Functions: []uint32{2}},
			{Mode: module.Declared, Type: module.FuncRef},
			{At: []byte("\x41\x03\x0b"), Type: module.FuncRef, OfExpressions: true, Expressions: [][]byte{[]byte("\xd2\x00\x0b")}},
			{Mode: module.Passive, Type: module.FuncRef, OfExpressions: true, Expressions: [][]byte{[]byte("\xd0\x70\x0b"), []byte("\xd2\x01\x0b")}},
			{At: []byte("\x23\x00\x0b"), Type: module.ExternRef, OfExpressions: true, Expressions: [][]byte{[]byte("\xd0\x6f\x0b")}},
			{Mode: module.Declared, Type: module.ExternRef, OfExpressions: true},
		},
		Bodies: []module.Body{
			{Size: 2},
			{Size: 8, Count: 4, Locals: []module.LocalGroup{{Count: 3, Type: module.I32}, {Count: 1, Type: module.FuncRef}}},
		},
		Data: []module.Data{
			{At: []byte("\x41\x7f\x0b"), Content: []byte("ab")}, {Mode: module.Passive, Content: []byte("c")}, {At: []byte("\x23\x00\x0b")},
		},
		DataCount:         3,
		ImportedFunctions: 1, ImportedTables: 1, ImportedMemories: 1, ImportedGlobals: 1,
		Size: len(everything),
	}
	ignore := []cmp.Option{
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(module.Module{}, "Sections"), cmpopts.IgnoreUnexported(module.Body{}),
		cmp.FilterPath(func(p cmp.Path) bool {
			name := p.Last().String()
			return name == ".Offset" || name == ".CodeOffset"
		}, cmp.Ignore()),
	}
	if diff := cmp.Diff(want, got, ignore...); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var names []string
	for i := range got.Sections {
		s := &got.Sections[i]
		names = append(names, s.Name())
		if string(everything[s.Offset:s.Offset+len(s.Payload)]) != string(s.Payload) {
			t.Errorf("the %s section is not at %#x", s.Name(), s.Offset)
		}
	}
	order := []string{"type", "import", "function", "table", "global", "export", "start", "element", "data count", "code", "data"}
	if diff := cmp.Diff(order, names); diff != "" {
		t.Errorf("sections: -want +got\n%s", diff)
	}
}

func TestOffsetsSayWhereThingsStand(t *testing.T) {
	t.Parallel()
	m, err := module.Parse(everything, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		offset int
		want   string
	}{
		"import 1":  {m.Imports[1].Offset, "\x01m\x01t\x01\x6f"},
		"table 0":   {m.Tables[0].Offset, "\x6f\x01\x02\x05"},
		"table 1":   {m.Tables[1].Offset, "\x70\x00\x03"},
		"memory 0":  {m.Memories[0].Offset, "\x00\x01"},
		"global 0":  {m.Globals[0].Offset, "\x7e\x01"},
		"global 2":  {m.Globals[2].Offset, "\x7d\x00\x43"},
		"export 3":  {m.Exports[3].Offset, "\x06\xe2\x82\xac"},
		"element 5": {m.Elements[5].Offset, "\x05\x70\x02"},
		"body 1":    {m.Bodies[1].Offset, "\x02\x03\x7f\x01\x70\x00\x00\x0b"},
		"code 1":    {m.Bodies[1].CodeOffset, "\x00\x00\x0b"},
		"data 1":    {m.Data[1].Offset, "\x01\x01c"},
	} {
		if got := string(everything[test.offset : test.offset+len(test.want)]); got != test.want {
			t.Errorf("at %s stands %q, want %q", name, got, test.want)
		}
	}
}

func TestAModuleOfNothingIsRead(t *testing.T) {
	t.Parallel()
	m, err := module.Parse(of(), module.Caps{})
	if err != nil || m.Start != -1 || m.DataCount != -1 || m.Size != 8 || len(m.Sections) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if m.Export("x") != nil {
		t.Error("it exports something")
	}
}

func TestExportsAreFoundByName(t *testing.T) {
	t.Parallel()
	m, err := module.Parse(everything, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Export("b"); e == nil || e.Kind != module.KindTable || e.Kind.String() != "table" {
		t.Errorf("b is %+v", e)
	}
	if e := m.Export("c"); e != nil {
		t.Errorf("c is %+v", e)
	}
	if got := module.Kind(9).String(); got != "import of an unknown kind" {
		t.Errorf("kind 9 is %q", got)
	}
}

func TestOnlyConstantAddressesAreKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		data    module.Data
		address uint32
		ok      bool
	}{
		"a number":      {module.Data{At: []byte("\x41\x05\x0b")}, 5, true},
		"the highest":   {module.Data{At: []byte("\x41\x7f\x0b")}, 1<<32 - 1, true},
		"a global":      {module.Data{At: []byte("\x23\x00\x0b")}, 0, false},
		"a passive one": {module.Data{Mode: module.Passive}, 0, false},
	} {
		if address, ok := test.data.Address(); address != test.address && ok || ok != test.ok {
			t.Errorf("%s: %d, %t; want %d, %t", name, address, ok, test.address, test.ok)
		}
	}
}

func TestValueTypesThatArePlainNumbers(t *testing.T) {
	t.Parallel()
	for _, v := range []module.ValueType{module.I32, module.I64, module.F32, module.F64} {
		if !v.Numeric() {
			t.Errorf("%s is not", v)
		}
	}
	for _, v := range []module.ValueType{module.V128, module.FuncRef, module.ExternRef, 0, 0x80} {
		if v.Numeric() {
			t.Errorf("%s is", v)
		}
	}
}
