package module_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// trace reads the only function of a module with the types 0: () -> (), 1: (i32 i64) ->
// (f32), 2: () -> (i32 i32). For each instruction it returns the name, how many blocks are
// open after it, and what is known about the block that ended or about the code that follows.
func trace(t *testing.T, body string) (steps []string, highest int) {
	t.Helper()
	whole := "\x01\x02\x7f" + body // two locals of i32
	binary := of(
		section(1, "\x03\x60\x00\x00\x60\x02\x7f\x7e\x01\x7d\x60\x00\x02\x7f\x7f"), section(2, "\x02\x01a\x01b\x00\x01\x01a\x01c\x00\x02"),
		section(3, "\x01\x00"), section(4, "\x01\x70\x00\x01"), oneMemory, section(10, "\x01"+string(rune(len(whole)))+whole),
	)
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	code := m.Code(0)
	if code.Depth() != 1 {
		t.Errorf("%d blocks are open before the first instruction, want 1", code.Depth())
	}
	var in module.Instruction
	for code.Next(&in) {
		step := fmt.Sprintf("%s %d", in.Op, code.Depth())
		if in.Op == module.OpEnd && code.Ended() {
			step += " targeted"
		}
		if code.Dead() {
			step += " dead"
		}
		steps = append(steps, step)
	}
	if err := code.Err(); err != nil {
		t.Fatal(err)
	}
	return steps, code.Highest()
}

func TestCodeKnowsBlocksAndHeights(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body    string
		highest int
		want    string // separated by "; "
	}{
		"nothing":               {"\x0b", 0, "end 0"},
		"constants":             {"\x41\x00\x42\x00\x1a\x1a\x0b", 2, "i32.const 1; i64.const 1; drop 1; drop 1; end 0"},
		"a block with a result": {"\x02\x7f\x41\x00\x0b\x1a\x0b", 1, "block 2; i32.const 2; end 1; drop 1; end 0"},
		"a block with params":   {"\x41\x00\x42\x00\x02\x01\x1a\x1a\x43\x00\x00\x00\x00\x0b\x1a\x0b", 2, "i32.const 1; i64.const 1; block 2; drop 2; drop 2; f32.const 2; end 1; drop 1; end 0"},
		"a branch out":          {"\x02\x40\x0c\x00\x0b\x0b", 0, "block 2; br 2 dead; end 1 targeted; end 0"},
		"a branch to the function": {
			"\x02\x40\x0c\x01\x0b\x0b", 0, "block 2; br 2 dead; end 1; end 0 targeted",
		},
		"br_if goes on":          {"\x02\x40\x41\x00\x0d\x00\x0b\x0b", 1, "block 2; i32.const 2; br_if 2; end 1 targeted; end 0"},
		"br_table":               {"\x02\x40\x02\x40\x02\x40\x41\x00\x0e\x01\x00\x02\x0b\x0b\x0b\x0b", 1, "block 2; block 3; block 4; i32.const 4; br_table 4 dead; end 3 targeted; end 2; end 1 targeted; end 0"},
		"a loop":                 {"\x03\x40\x0c\x00\x0b\x0b", 0, "loop 2; br 2 dead; end 1 targeted; end 0"},
		"an if with else":        {"\x41\x00\x04\x7f\x41\x01\x05\x41\x02\x0b\x1a\x0b", 1, "i32.const 1; if 2; i32.const 2; else 2; i32.const 2; end 1; drop 1; end 0"},
		"the else is reached":    {"\x41\x00\x04\x40\x00\x05\x01\x0b\x0b", 1, "i32.const 1; if 2; unreachable 2 dead; else 2; nop 2; end 1; end 0"},
		"after return":           {"\x0f\x1a\x6a\x1a\x0b", 1, "return 1 dead; drop 1 dead; i32.add 1 dead; drop 1 dead; end 0"},
		"blocks in dead code":    {"\x00\x02\x40\x1a\x0b\x0b", 0, ""},
		"what dead code targets": {"\x02\x40\x00\x0c\x00\x0b\x0b", 0, "block 2; unreachable 2 dead; br 2 dead; end 1 targeted; end 0"},
		"a call":                 {"\x41\x00\x42\x00\x10\x00\x1a\x0b", 2, "i32.const 1; i64.const 1; call 1; drop 1; end 0"},
		"a call with two results": {
			"\x10\x01\x10\x01\x1a\x1a\x1a\x1a\x0b", 4, "call 1; call 1; drop 1; drop 1; drop 1; drop 1; end 0",
		},
		"call_indirect": {"\x41\x00\x42\x00\x41\x00\x11\x01\x00\x1a\x0b", 3, "i32.const 1; i64.const 1; i32.const 1; call_indirect 1; drop 1; end 0"},
		"select":        {"\x41\x00\x41\x00\x41\x00\x1b\x1a\x0b", 3, "i32.const 1; i32.const 1; i32.const 1; select 1; drop 1; end 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.want == "" { // reading fails: the operands below a block are not the block's own
				err := read(code("\x00" + test.body))
				if err == nil || !strings.HasSuffix(err.Error(), "the operand stack is empty") {
					t.Errorf("error %v", err)
				}
				return
			}
			steps, highest := trace(t, test.body)
			if want := strings.Split(test.want, "; "); !slices.Equal(steps, want) {
				t.Errorf("%s\nwant %s", strings.Join(steps, "; "), test.want)
			}
			if highest != test.highest {
				t.Errorf("the stack was %d high, want %d", highest, test.highest)
			}
		})
	}
}

func TestWhatInstructionsName(t *testing.T) {
	t.Parallel()
	type named struct {
		op            module.Op
		index, second uint32
		labels        []uint32
	}
	body := "\x00" + // no locals
		"\x02\x40\x02\x40" + "\x41\x07\x0e\x02\x01\x00\x02" + "\x0b\x0b" +
		"\x00" + "\x11\x00\x01" + "\xfc\x0e\x01\x00" + "\xfc\x0c\x01\x00" + "\xfc\x08\x02\x00" + "\xfd\x15\x0f" + "\x23\x01" + "\xfc\x10\x01" +
		"\x00\x0b"
	binary := of(
		oneType, oneFunction, section(4, "\x02\x70\x00\x01\x70\x00\x01"), oneMemory, section(6, "\x02\x7f\x00\x41\x00\x0b\x7f\x00\x41\x00\x0b"),
		section(9, "\x02\x01\x00\x00\x01\x00\x00"), section(12, "\x03"), section(10, "\x01"+string(rune(len(body)))+body),
		section(11, "\x03\x01\x00\x01\x00\x01\x00"),
	)
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	var got []named
	code := m.Code(0)
	var in module.Instruction
	for code.Next(&in) {
		switch n := (named{in.Op, in.Index, in.Second, nil}); {
		case in.Op == module.OpBrTable:
			n.labels = slices.Clone(in.Labels)
			got = append(got, n)
		case in.Index != 0 || in.Second != 0:
			got = append(got, n)
		}
	}
	want := []named{
		{module.OpBrTable, 0, 0, []uint32{1, 0, 2}},
		{module.OpCallIndirect, 0, 1, nil},
		{module.OpTableCopy, 1, 0, nil},
		{module.OpTableInit, 1, 0, nil},
		{module.OpMemoryInit, 2, 0, nil},
		{0xfd<<16 | 0x15, 15, 0, nil},
		{module.OpGlobalGet, 1, 0, nil},
		{module.OpTableSize, 1, 0, nil},
	}
	if !slices.EqualFunc(got, want, func(a, b named) bool {
		return a.op == b.op && a.index == b.index && a.second == b.second && slices.Equal(a.labels, b.labels)
	}) {
		t.Errorf("%v\nwant %v, error %v", got, want, code.Err())
	}
}
