package verify_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// of returns a module of these sections.
func of(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

func section(id byte, payload string) string { return string(rune(id)) + sized(payload) }

func sized(text string) string { return number(len(text)) + text }

func number(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }

// oneType and the following are sections that other sections need.
var (
	oneType     = section(1, "\x01\x60\x00\x00")
	oneFunction = section(3, "\x01\x00")
	oneMemory   = section(5, "\x01\x00\x01")
	oneBody     = section(10, "\x01\x02\x00\x0b")
)

// function returns a module with a function with this body.
func function(body string) []byte {
	return of(oneType, oneFunction, oneMemory, section(10, "\x01"+sized(body)))
}

// check verifies a module that must be readable, and returns its shape and the reasons to
// refuse it.
func check(t *testing.T, binary []byte, caps verify.Caps) (verify.Shape, []string) {
	t.Helper()
	m, err := module.Parse(binary, caps.Counts)
	if err != nil {
		t.Fatal(err)
	}
	shape, refused := verify.Check(t.Context(), m, caps)
	reasons := make([]string, len(refused))
	for i, fault := range refused {
		reasons[i] = fault.Error()
	}
	return shape, reasons
}

func TestEachCapHoldsFromOneBeyondItOn(t *testing.T) {
	t.Parallel()
	blocks := func(locals string, n int) []byte {
		return function(locals + strings.Repeat("\x02\x40", n) + strings.Repeat("\x0b", n+1))
	}
	few, many := "\x01\x03\x7f", "\x01\x05\x7f" // 3 and 5 local variables
	for name, test := range map[string]struct {
		set  func(c *verify.Caps)
		at   []byte // exactly at the cap
		past []byte
		want string
	}{
		"the module's size": {
			func(c *verify.Caps) { c.Module = 20 }, of(section(0, "\x01abcdefghi")), of(section(0, "\x01abcdefghij")),
			"at byte 0x14: the module has 21 bytes: at most 20 are supported",
		},
		"the code's size": {
			func(c *verify.Caps) { c.Code = 5 }, function("\x00\x01\x0b"), function("\x00\x01\x01\x0b"),
			"code section, at byte 0x19: 6 bytes of code: at most 5 are supported",
		},
		"a function's size": {
			func(c *verify.Caps) { c.Body = 3 }, function("\x00\x01\x0b"), function("\x00\x01\x01\x0b"),
			"code section, function 0, at byte 0x1b: 4 bytes of code: at most 3 are supported in a function",
		},
		"a function's variables": {
			func(c *verify.Caps) { c.Locals = 5 }, function("\x02\x02\x7f\x03\x7e\x0b"), function("\x02\x02\x7f\x04\x7e\x0b"),
			"code section, function 0, at byte 0x1b: 6 local variables: at most 5 are supported in a function",
		},
		"the most variables that can be written": {
			func(c *verify.Caps) { c.AllLocals = 1 << 33 }, function("\x00\x0b"), function("\x01\xff\xff\xff\xff\x0f\x7f\x0b"),
			"code section, function 0, at byte 0x1b: 4294967295 local variables: at most 1000 are supported in a function",
		},
		"all functions' variables": {
			func(c *verify.Caps) { c.AllLocals = 5 },
			of(oneType, section(3, "\x02\x00\x00"), section(10, "\x02"+sized("\x01\x02\x7f\x0b")+sized("\x01\x03\x7f\x0b"))),
			of(oneType, section(3, "\x02\x00\x00"), section(10, "\x02"+sized("\x01\x02\x7f\x0b")+sized("\x01\x04\x7f\x0b"))),
			"code section, function 1, at byte 0x1c: functions with 6 local variables together: at most 5 are supported",
		},
		"parameters and results": {
			func(c *verify.Caps) { c.Arity = 4 }, of(section(1, "\x02\x60\x00\x00\x60\x03\x7f\x7f\x7f\x01\x7f")),
			of(section(1, "\x02\x60\x00\x00\x60\x03\x7f\x7f\x7f\x02\x7f\x7f")),
			"type section, type 1, at byte 0xa: 5 parameters and results: at most 4 are supported",
		},
		"nesting": {
			func(c *verify.Caps) { c.Nesting, c.NestingLocals, c.ManyLocals = 6, 2, 4 }, blocks(few, 6), blocks(few, 7),
			"code section, function 0, at byte 0x2a: blocks 7 deep: at most 6 are supported in a function with 3 local variables",
		},
		"nesting with many variables": {
			func(c *verify.Caps) { c.Nesting, c.NestingLocals, c.ManyLocals = 6, 2, 4 }, blocks(many, 2), blocks(many, 3),
			"code section, function 0, at byte 0x22: blocks 3 deep: at most 2 are supported in a function with 5 local variables",
		},
		"nesting with as many variables as are not many": {
			func(c *verify.Caps) { c.Nesting, c.NestingLocals, c.ManyLocals = 6, 2, 4 }, blocks("\x01\x04\x7f", 6), blocks("\x01\x04\x7f", 7),
			"code section, function 0, at byte 0x2a: blocks 7 deep: at most 6 are supported in a function with 4 local variables",
		},
		"blocks times variables": {
			func(c *verify.Caps) { c.Product = 24 }, function(few + strings.Repeat("\x02\x40\x0b", 4) + "\x0b"),
			function(few + strings.Repeat("\x03\x40\x0b", 5) + "\x0b"),
			"code section, function 0, at byte 0x2a: 5 blocks and branches, and 3 local variables: with 3 more for metering their product may be at most 24",
		},
		"blocks times parameters": {
			func(c *verify.Caps) { c.Product = 5 },
			of(section(1, "\x01\x60\x01\x7f\x00"), oneFunction, section(10, "\x01"+sized("\x01\x01\x7f\x02\x40\x0b\x0b"))),
			of(section(1, "\x01\x60\x02\x7f\x7f\x00"), oneFunction, section(10, "\x01"+sized("\x01\x01\x7f\x02\x40\x0b\x0b"))),
			"code section, function 0, at byte 0x1b: 1 blocks and branches, and 3 local variables: with 3 more for metering their product may be at most 5",
		},
		"branches times variables": {
			func(c *verify.Caps) { c.Product = 24 }, function(few + "\x02\x40" + strings.Repeat("\x41\x00\x0d\x00", 3) + "\x0b\x0b"),
			function(few + "\x02\x40\x41\x00\x0e\x03\x00\x00\x00\x00\x0b\x0b"),
			"code section, function 0, at byte 0x22: 5 blocks and branches, and 3 local variables: with 3 more for metering their product may be at most 24",
		},
		"loops": {
			func(c *verify.Caps) { c.Loops = 2 }, function(few + strings.Repeat("\x03\x40\x0b", 2) + "\x0b"),
			function(few + strings.Repeat("\x03\x40\x0b", 3) + "\x0b"),
			"code section, function 0, at byte 0x24: 3 loops: at most 2 are supported in a function",
		},
		"operands": {
			func(c *verify.Caps) { c.Operands = 3 }, function("\x00" + strings.Repeat("\x41\x00", 3) + "\x1a\x1a\x1a\x0b"),
			function("\x00" + strings.Repeat("\x41\x00", 4) + "\x1a\x1a\x1a\x1a\x0b"),
			"code section, function 0, at byte 0x22: 4 operands on the stack: at most 3 are supported",
		},
		"labels": {
			func(c *verify.Caps) { c.Labels = 3 }, function("\x00\x41\x00\x0e\x02\x00\x00\x00\x0b"), function("\x00\x41\x00\x0e\x03\x00\x00\x00\x00\x0b"),
			"code section, function 0, at byte 0x1e: br_table with 4 labels: at most 3 are supported",
		},
		"entries of tables": {
			func(c *verify.Caps) { c.Entries = 7 }, of(section(4, "\x02\x70\x00\x03\x6f\x00\x04")), of(section(4, "\x02\x70\x00\x03\x6f\x00\x05")),
			"table section, table 1, at byte 0xe: tables of 8 entries together: at most 7 are supported",
		},
		"very many entries": {
			func(*verify.Caps) {}, of(section(4, "\x01\x70\x00\x80\x80\x04")), of(section(4, "\x02\x70\x00\xff\xff\xff\xff\x0f\x70\x00\xff\xff\xff\xff\x0f")),
			"table section, table 0, at byte 0xb: tables of 4294967295 entries together: at most 65536 are supported",
		},
		"elements": {
			func(c *verify.Caps) { c.Items = 3 },
			of(oneType, oneFunction, section(9, "\x02\x01\x00\x02\x00\x00\x05\x70\x01\xd0\x70\x0b"), oneBody),
			of(oneType, oneFunction, section(9, "\x02\x01\x00\x02\x00\x00\x05\x70\x02\xd0\x70\x0b\xd0\x70\x0b"), oneBody),
			"element section, element 1, at byte 0x1a: 4 elements together: at most 3 are supported",
		},
		"data at the memory's end": {
			func(*verify.Caps) {}, of(oneMemory, section(11, "\x01\x00\x41\xfe\xff\x03\x0b\x02ab")), of(oneMemory, section(11, "\x01\x00\x41\xfe\xff\x03\x0b\x03abc")),
			"data section, data 0, at byte 0x10: 3 bytes at 0xfffe: the memory begins with 65536",
		},
		"data at the highest address": {
			func(*verify.Caps) {}, of(oneMemory, section(11, "\x01\x01\x00")), of(oneMemory, section(11, "\x01\x00\x41\x7f\x0b\x01a")),
			"data section, data 0, at byte 0x10: 1 bytes at 0xffffffff: the memory begins with 65536",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caps := verify.Default()
			test.set(&caps)
			if _, refused := check(t, test.at, caps); len(refused) > 0 {
				t.Errorf("at the cap it is refused: %q", refused)
			}
			_, refused := check(t, test.past, caps)
			if !slices.Equal(refused, []string{test.want}) {
				t.Errorf("beyond the cap: %q\nwant %q", refused, test.want)
			}
		})
	}
}

// TestEverySectionsElementsAreCapped checks the caps on counts, which apply while a module is
// read.
func TestEverySectionsElementsAreCapped(t *testing.T) {
	t.Parallel()
	caps := verify.Default()
	for id, most := range caps.Counts {
		s := module.Section{ID: byte(id)}
		switch s.ID {
		case module.SectionCustom, module.SectionStart, module.SectionDataCount:
			continue
		}
		if most == 0 {
			t.Errorf("the %s section is not capped", s.Name())
		}
		_, err := module.Parse(of(section(s.ID, number(most+1)+strings.Repeat("\x00", most+1))), caps.Counts)
		want := fmt.Sprintf("%s section, at byte %#x: %d elements: at most %d are supported", s.Name(),
			9+len(number(most+1+len(number(most+1)))), most+1, most)
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestNoMoreThanTwentyReasonsAreTold checks that the list of reasons is limited, and that it
// keeps the first ones in their order.
func TestNoMoreThanTwentyReasonsAreTold(t *testing.T) {
	t.Parallel()
	globals := section(6, "\x1e"+strings.Repeat("\x70\x01\xd0\x70\x0b", 30))
	_, refused := check(t, of(globals), verify.Default())
	if len(refused) != 20 {
		t.Errorf("%d reasons are told", len(refused))
	}
	for i, reason := range refused {
		if want := fmt.Sprintf("global section, global %d, ", i); !strings.HasPrefix(reason, want) {
			t.Errorf("reason %d is %s", i, reason)
		}
	}
	n := 30
	functions := of(oneType, section(3, number(n)+strings.Repeat("\x00", n)), section(10, number(n)+strings.Repeat(sized("\x00\x1a\x0b"), n)))
	if _, refused := check(t, functions, verify.Default()); len(refused) != 20 {
		t.Errorf("%d functions that cannot be read give %d reasons", n, len(refused))
	}
}

// TestEachFunctionIsLookedAt checks that at most one reason is reported for a function, but
// one for every function.
func TestEachFunctionIsLookedAt(t *testing.T) {
	t.Parallel()
	caps := verify.Default()
	caps.Operands = 1
	two := "\x00\x41\x00\x41\x00\x41\x00\x1a\x1a\x1a\x0b"
	binary := of(oneType, section(2, "\x01\x01a\x01b\x00\x00"), section(3, "\x03\x00\x00\x00"), section(10, "\x03"+sized(two)+sized("\x00\x0b")+sized("\x00\x20\x07\x0b")))
	_, refused := check(t, binary, caps)
	want := []string{
		"code section, function 1, at byte 0x24: 2 operands on the stack: at most 1 are supported",
		"code section, function 3, at byte 0x32: there is no local 7",
	}
	if !slices.Equal(refused, want) {
		t.Errorf("%q\nwant %q", refused, want)
	}
}
