package wasm

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

// Instructions on tables; the first byte after the opcode is the table.
func tableGrow(table byte) wasmtest.Code { return wasmtest.Code{0xfc, 0x0f, table} }
func tableSize(table byte) wasmtest.Code { return wasmtest.Code{0xfc, 0x10, table} }

// growing answers allow if growing the table by delta gives want and leaves
// size entries, else deny.
func growing(section string, table, null byte, delta, want, size int32) []byte {
	m := wasmtest.Plugin()
	m.Replace(4, []byte(section))
	m.Admit(
		wasmtest.Code{0xd0, null}, wasmtest.I32Const(delta), tableGrow(table), wasmtest.I32Const(want), wasmtest.I32Ne,
		tableSize(table), wasmtest.I32Const(size), wasmtest.I32Ne, wasmtest.Code{0x72}, // or
	)
	return m.Bytes()
}

func TestNoTableGrows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		section     string
		table, null byte
		size        int32
	}{
		"without a maximum":        {"\x01\x70\x00\x01", 0, 0x70, 1},
		"empty":                    {"\x01\x70\x00\x00", 0, 0x70, 0},
		"with a small maximum":     {"\x01\x70\x01\x01\x05", 0, 0x70, 1},
		"with the largest maximum": {"\x01\x70\x01\x01\xff\xff\xff\xff\x0f", 0, 0x70, 1},
		"that is at its maximum":   {"\x01\x70\x01\x03\x03", 0, 0x70, 3},
		"of the host's objects":    {"\x01\x6f\x00\x02", 0, 0x6f, 2},
		"with a long number":       {"\x01\x70\x00\x82\x80\x80\x80\x00", 0, 0x70, 2},
		"in a long list":           {"\x81\x80\x00\x70\x00\x01", 0, 0x70, 1},
		"with all entries":         {"\x01\x70\x00\x80\x80\x04", 0, 0x70, 64 << 10},
		"the second":               {"\x02\x70\x00\x01\x70\x00\x82\x01", 1, 0x70, 130},
		"the last":                 {"\x10" + strings.Repeat("\x70\x00\x01", 15) + "\x6f\x01\x04\x09", 15, 0x6f, 4},
	} {
		// A few entries first: by so many at once the agent would die of it.
		for _, delta := range []int32{1, 2, 1 << 10, -16} {
			p, _ := load(t, growing(test.section, test.table, test.null, delta, -1, test.size))
			for range 2 {
				if got := admit(t, p); got.Answer != pod.Allow {
					t.Fatalf("a table %s grew by %d", name, delta)
				}
			}
		}
		p, _ := load(t, growing(test.section, test.table, test.null, 0, test.size, test.size))
		if got := admit(t, p); got.Answer != pod.Allow {
			t.Errorf("a table %s: growing by nothing does not give its size", name)
		}
	}
}

func TestTablesAreCalledThrough(t *testing.T) {
	t.Parallel()
	m := wasmtest.Plugin()
	holds := m.Func(nil, []wasmtest.Type{wasmtest.I32}, nil, wasmtest.I32Const(2))
	m.Replace(4, []byte("\x02\x70\x00\x01\x70\x00\x04"))
	m.Replace(9, []byte{1, 2, 1, 0x41, 3, 0x0b, 0, 1, byte(holds)}) // at 3 in table 1
	m.Admit(wasmtest.I32Const(3), wasmtest.Code{0x11, 0x01, 0x01})  // call_indirect of type 1 in table 1
	if p, _ := load(t, m.Bytes()); admit(t, p).Answer != pod.Hold {
		t.Error("another function was called")
	}
}

// That the guest runs as before is what TestGoGuestJudges shows.
func TestTheGoGuestsTableIsFixed(t *testing.T) {
	t.Parallel()
	guest, err := buildGuest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(guest)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, _ := l.rewrite()
	was, is := tableSection(t, guest), tableSection(t, rewritten)
	size := was[3:]
	if want := slices.Concat([]byte{1, 0x70, 1}, size, size); was[2] != 0 || !bytes.Equal(is, want) {
		t.Errorf("the section %x became %x, want %x", was, is, want)
	}
}

func tableSection(t *testing.T, module []byte) []byte {
	t.Helper()
	l, err := readLayout(module)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(l.sections, func(s section) bool { return s.id == sectionTable })
	if i < 0 {
		t.Fatal("no table section")
	}
	return l.sections[i].payload
}

// list is a section of n elements that are all the same.
func list(n int, element string) []byte {
	return append(binary.AppendUvarint(nil, uint64(n)), strings.Repeat(element, n)...)
}

func TestTablesAndElementsAreBounded(t *testing.T) {
	t.Parallel()
	entries := func(n int, one string) string { return string(list(n, one)) }
	type sections map[byte]string
	for name, test := range map[string]struct {
		sections sections
		want     string // "" for a module that is taken
	}{
		"as many tables as may be":   {sections{4: entries(16, "\x70\x00\x80\x20")}, ""},
		"more tables":                {sections{4: entries(17, "\x70\x00\x00")}, "more than 16 tables"},
		"very many tables":           {sections{4: entries(100_000, "\x70\x00\x80\x80\x04")}, "tables of 131072 entries together: at most 65536 are supported in this version"},
		"more entries":               {sections{4: "\x02\x70\x00\xff\xff\x03\x6f\x00\x02"}, "tables of 65537 entries together: at most 65536"},
		"more entries in one":        {sections{4: "\x01\x70\x00\x81\x80\x04"}, "tables of 65537 entries together: at most 65536"},
		"a number of 33 bits":        {sections{4: "\x01\x70\x00\x81\x80\x80\x80\x10"}, "a number of more than 32 bits"},
		"a maximum of 33 bits":       {sections{4: "\x01\x70\x01\x01\x81\x80\x80\x80\x10"}, "a number of more than 32 bits"},
		"a maximum below the size":   {sections{4: "\x01\x70\x01\x05\x04"}, "a table of 5 entries that may have 4 at most"},
		"an initialiser":             {sections{4: "\x01\x40\x00\x70\x00\x01\xd0\x70\x0b"}, "a table with an initialiser is not supported in this version"},
		"a 64-bit table":             {sections{4: "\x01\x70\x04\x01"}, "a 64-bit table is not supported in this version"},
		"a 64-bit table, bounded":    {sections{4: "\x01\x70\x05\x01\x01"}, "a 64-bit table is not supported in this version"},
		"a shared table":             {sections{4: "\x01\x70\x03\x01\x01"}, "a shared table is not supported in this version"},
		"limits of no known form":    {sections{4: "\x01\x70\x08\x01"}, "a table whose limits have form 0x8 is not supported in this version"},
		"a table of numbers":         {sections{4: "\x01\x7f\x00\x01"}, "references of type 0x7f are not supported in this version"},
		"a table of typed functions": {sections{4: "\x01\x63\x00\x00\x01"}, "references of type 0x63 are not supported in this version"},
		"a section that goes on":     {sections{4: "\x01\x70\x00\x01\x00"}, "table section: at byte 29: 1 bytes after the last element"},

		"as many segments as may be": {sections{9: entries(1024, "\x01\x00\x00")}, ""},
		"more segments":              {sections{9: entries(1025, "\x01\x00\x00")}, "more than 1024 segments of elements"},
		"as many elements as may be": {sections{9: "\x02\x01\x00" + entries(32<<10, "\x00") + "\x05\x70" + entries(32<<10, "\xd2\x00\x0b")}, ""},
		"more elements": {
			sections{9: "\x02\x01\x00" + entries(32<<10, "\x00") + "\x05\x70" + entries(32<<10+1, "\xd2\x00\x0b")},
			"segments of 65537 elements together: at most 65536 are supported in this version",
		},
		"elements of typed functions": {sections{9: "\x01\x05\x63\x70\x00"}, "references of type 0x63 are not supported in this version"},
		"elements of no known kind":   {sections{9: "\x01\x01\x01\x00"}, "elements of kind 0x1 are not supported in this version"},
	} {
		module := complete(func(m *wasmtest.Module) {
			for id, section := range test.sections {
				m.Replace(id, []byte(section))
			}
		})
		checkLoad(t, name, module, test.want)
	}
}

// checkLoad checks that a module is refused as an AbiMismatch, or taken.
func checkLoad(t *testing.T, name string, module []byte, want string) {
	t.Helper()
	e, _ := testEngine(t)
	p, err := e.Load(t.Context(), module, testOptions())
	if err == nil {
		err = p.Close()
	}
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (err == nil || !strings.HasPrefix(err.Error(), "AbiMismatch: ") || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v\nwant %s", name, err, want)
	}
}

// Types of more than one byte would make the compiler read other numbers than
// were checked.
func TestTypesOfSeveralBytesAreRefused(t *testing.T) {
	t.Parallel()
	const want = "typed references are not supported in this version"
	for name, change := range map[string]func(m *wasmtest.Module){
		"of a parameter": func(m *wasmtest.Module) { m.Replace(1, []byte("\x03\x60\x00\x00\x60\x00\x01\x7f\x60\x01\x63\x70\x00")) },
		"of a result":    func(m *wasmtest.Module) { m.Replace(1, []byte("\x03\x60\x00\x00\x60\x00\x01\x7f\x60\x00\x01\x64\x70")) },
		"of a global":    func(m *wasmtest.Module) { m.Replace(6, []byte("\x01\x63\x70\x00\xd0\x70\x0b")) },
		// The compiler would find 4294967294 locals after the type 0x63 0x01.
		"of a local": func(m *wasmtest.Module) {
			m.Replace(10, []byte("\x01\x0c\x02\x01\x63\x01\xfe\xff\xff\xff\x0f\x7f\x0b\x0b"))
		},
	} {
		checkLoad(t, name, complete(change), want)
	}
	checkLoad(t, "of no known form", complete(func(m *wasmtest.Module) { m.Replace(6, []byte("\x01\x69\x00\xd0\x69\x0b")) }),
		"values of type 0x69 are not supported in this version")
}

func TestLocalsAreBoundedForAllFunctionsTogether(t *testing.T) {
	t.Parallel()
	with := func(functions, locals int) []byte {
		return complete(func(m *wasmtest.Module) {
			code := slices.Concat([]byte{1}, binary.AppendUvarint(nil, uint64(locals)), []byte{0x7f, 0x41, 0, 0x0b})
			code = append([]byte{byte(len(code))}, code...)
			n := binary.AppendUvarint(nil, uint64(functions))
			m.Replace(3, append(slices.Clone(n), "\x00"+strings.Repeat("\x01", functions-1)...))
			m.Replace(10, append(slices.Clone(n), "\x02\x00\x0b"+string(bytes.Repeat(code, functions-1))...)) // the marker first
		})
	}
	checkLoad(t, "few", with(3, 100), "")
	checkLoad(t, "too many", with(30, 50_000), "functions with 1050000 local variables together: at most 1048576 are supported in this version")
}
