package module_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// numbers returns all possible opcodes of one or two bytes.
func numbers() []module.Op {
	var all []module.Op
	for _, prefix := range []module.Op{0, 0xfc << 16, 0xfd << 16} {
		for n := range module.Op(300) {
			if prefix != 0 || n < 256 && n != 0xfc && n != 0xfd {
				all = append(all, prefix|n)
			}
		}
	}
	return all
}

// zero chooses the first of several things.
func zero(int) int { return 0 }

// operands has the bytes after the opcode for instructions without a signature, if index 0 of
// everything exists.
var operands = map[string]string{
	"block": "\x40\x0b", "loop": "\x40\x0b", "if": "\x40\x0b", "br": "\x00", "br_if": "\x00", "br_table": "\x01\x00\x00",
	"call": "\x00", "call_indirect": "\x00\x00", "local.get": "\x00", "local.set": "\x00", "local.tee": "\x00",
	"global.get": "\x00", "global.set": "\x00", "table.get": "\x00", "table.set": "\x00", "memory.size": "\x00", "memory.grow": "\x00",
	"ref.null": "\x70", "ref.func": "\x00", "memory.init": "\x00\x00", "data.drop": "\x00", "memory.copy": "\x00\x00", "memory.fill": "\x00",
	"table.init": "\x00\x00", "elem.drop": "\x00", "table.copy": "\x00\x00", "table.grow": "\x00", "table.size": "\x00", "table.fill": "\x00",
}

// instruction returns an instruction with its operands.
func instruction(op module.Op) []byte {
	code := generate.Encode(op)
	switch _, ok := generate.SignatureOf(op); {
	case ok:
		return append(code, generate.Operand(op, zero)...)
	case op == module.OpSelectTyped:
		return append(code, 1, byte(module.I32))
	}
	return append(code, operands[op.String()]...)
}

// around returns a module with one of everything, and the code in a function () -> () with a
// variable of each type, i32 first.
func around(code []byte) []byte {
	body := slices.Concat([]byte("\x07\x01\x7f\x01\x7e\x01\x7d\x01\x7c\x01\x7b\x01\x70\x01\x6f"), code, []byte{0x0b})
	b := binary.AppendUvarint(nil, uint64(len(body)))
	return of(
		section(1, "\x01\x60\x00\x00"), section(3, "\x01\x00"), section(4, "\x01\x70\x00\x01"), section(5, "\x01\x00\x01"),
		section(6, "\x01\x7f\x01\x41\x00\x0b"), section(9, "\x01\x01\x00\x01\x00"), section(12, "\x01"),
		section(10, "\x01"+string(b)+string(body)), section(11, "\x01\x01\x01a"),
	)
}

// of returns a module of these sections.
func of(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

func section(id byte, payload string) string {
	return string(append(binary.AppendUvarint([]byte{id}, uint64(len(payload))), payload...))
}

// read reads a module and all its code.
func read(binary []byte) error {
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		return err
	}
	for i := range m.Bodies {
		code := m.Code(i)
		var in module.Instruction
		for code.Next(&in) {
			if len(in.Raw) == 0 || !bytes.Equal(in.Raw, binary[in.Offset:in.Offset+len(in.Raw)]) {
				return &module.Fault{What: "an instruction that is not what stands at its offset"}
			}
		}
		if err := code.Err(); err != nil {
			return err
		}
	}
	return nil
}

func engine(tb testing.TB) wazero.Runtime {
	tb.Helper()
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	tb.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

func valid(tb testing.TB, r wazero.Runtime, binary []byte) error {
	tb.Helper()
	code, err := r.CompileModule(context.Background(), binary)
	if err != nil {
		return err
	}
	return code.Close(context.Background())
}

// TestTheSameInstructionsAreSupportedAsByTheEngine puts each instruction after unreachable,
// where any operands are valid.
func TestTheSameInstructionsAreSupportedAsByTheEngine(t *testing.T) {
	t.Parallel()
	r := engine(t)
	known := 0
	for _, op := range numbers() {
		switch _, ok := op.Info(); {
		case op == module.OpElse, op == module.OpEnd: // invalid on their own
			known++
		case ok:
			known++
			binary := around(slices.Concat([]byte{0}, instruction(op), []byte{0}))
			if err := read(binary); err != nil {
				t.Errorf("%s: %v", op, err)
			}
			if err := valid(t, r, binary); err != nil {
				t.Errorf("%s is not valid: %v", op, err)
			}
		default:
			for n := range 18 { // with any length of operands
				binary := around(slices.Concat([]byte{0}, generate.Encode(op), make([]byte, n), []byte{0}))
				if read(binary) == nil {
					t.Errorf("instruction %#x is read", uint32(op))
				}
				if valid(t, r, binary) == nil {
					t.Errorf("instruction %#x is valid for the engine, and not supported", uint32(op))
				}
			}
		}
	}
	if known != instructions {
		t.Errorf("%d instructions are known, want %d", known, instructions)
	}
}

// TestInstructionsHaveTheSpecificationsNamesAndNumbers reads the engine's list of names and
// numbers.
func TestInstructionsHaveTheSpecificationsNamesAndNumbers(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatalf("find wazero's module: %v", err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "internal", "wasm", "instruction.go"))
	if err != nil {
		t.Fatal(err)
	}
	names, numbered := map[string]string{}, map[string]module.Op{}
	for _, m := range regexp.MustCompile(`(?m)^\s*(Opcode\w+Name)\s*=\s*"(.*)"`).FindAllStringSubmatch(string(source), -1) {
		names[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*(Opcode(Misc|Vec|Atomic|)\w+)(?:\s+\w+)?\s*=\s*(0x[0-9a-f]+)`).FindAllStringSubmatch(string(source), -1) {
		n, err := strconv.ParseUint(m[3], 0, 16)
		if err != nil {
			t.Fatal(err)
		}
		numbered[m[1]] = map[string]module.Op{"": 0, "Misc": 0xfc << 16, "Vec": 0xfd << 16, "Atomic": 0xfe << 16}[m[2]] | module.Op(n)
	}
	found := map[module.Op]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*(Opcode\w+):\s*(Opcode\w+Name),`).FindAllStringSubmatch(string(source), -1) {
		found[numbered[m[1]]] = names[m[2]]
	}
	compared := 0
	for _, op := range numbers() {
		if _, ok := op.Info(); !ok {
			continue
		}
		compared++
		want := found[op]
		if other, ok := otherNames[want]; ok {
			want = other
		}
		if op.String() != want {
			t.Errorf("instruction %#x is named %q, want %q", uint32(op), op, want)
		}
	}
	if compared != instructions {
		t.Errorf("%d names were compared", compared)
	}
}

// instructions is the number of instructions in WebAssembly 2.0: 172 of version 1, 5 for sign
// extension, 8 saturating, 7 on ranges, 9 on references and tables, 236 on vectors.
const instructions = 437

// otherNames has the specification's names of instructions that the engine calls otherwise.
var otherNames = map[string]string{
	"typed_select": "select", "f32.convert_i64u": "f32.convert_i64_u", "v128.shuffle": "i8x16.shuffle",
	"i8x16.sub_s": "i8x16.sub_sat_s", "i8x16.sub_u": "i8x16.sub_sat_u",
	"i64x2.lt": "i64x2.lt_s", "i64x2.gt": "i64x2.gt_s", "i64x2.le": "i64x2.le_s", "i64x2.ge": "i64x2.ge_s",
}

// TestInstructionsTakeAndLeaveWhatTheirNamesSay compares each signature in the table with the
// specification's name of the instruction.
func TestInstructionsTakeAndLeaveWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	r := engine(t)
	compared := 0
	for _, op := range numbers() {
		s, ok := generate.SignatureOf(op)
		if !ok {
			continue
		}
		compared++
		info, _ := op.Info()
		if info.Pops != len(s.Params) || info.Pushes != len(s.Results) {
			t.Errorf("%s takes %d and leaves %d, want %d and %d", op, info.Pops, info.Pushes, len(s.Params), len(s.Results))
		}
		var before, after []byte
		for _, p := range s.Params {
			before = append(before, byte(module.OpLocalGet), byte(slices.Index(variables, p)))
		}
		for range s.Results {
			after = append(after, byte(module.OpDrop))
		}
		whole := around(slices.Concat(before, instruction(op), after))
		if err := read(whole); err != nil {
			t.Errorf("%s: %v", op, err)
		}
		if err := valid(t, r, whole); err != nil {
			t.Errorf("%s is not valid: %v", op, err)
		}
		if len(s.Params) == 0 {
			continue
		}
		if err := read(around(slices.Concat(before[2:], instruction(op), after))); err == nil || !strings.HasSuffix(err.Error(), ": the operand stack is empty") {
			t.Errorf("%s with an operand too few: %v", op, err)
		}
	}
	if compared < 380 {
		t.Errorf("%d instructions were compared", compared)
	}
}

// variables are the types of the variables in the function of around.
var variables = []module.ValueType{module.I32, module.I64, module.F32, module.F64, module.V128, module.FuncRef, module.ExternRef}

func TestInstructionsThatMayGiveOtherNaNs(t *testing.T) {
	t.Parallel()
	scalar := "ceil floor trunc nearest sqrt add sub mul div min max"
	want := map[string]bool{"f32.demote_f64": true, "f64.promote_f32": true, "f32x4.demote_f64x2_zero": true, "f64x2.promote_low_f32x4": true}
	for _, kind := range []string{"f32", "f64", "f32x4", "f64x2"} {
		for operation := range strings.FieldsSeq(scalar) {
			want[kind+"."+operation] = true
		}
	}
	lanes := map[string][2]module.ValueType{
		"f32": {module.F32, 0}, "f64": {module.F64, 0}, "f32x4": {module.V128, module.F32}, "f64x2": {module.V128, module.F64},
	}
	for _, op := range numbers() {
		info, ok := op.Info()
		if !ok {
			continue
		}
		kind, _, _ := strings.Cut(info.Name, ".")
		expected := [2]module.ValueType{}
		if want[info.Name] {
			expected = lanes[kind]
			delete(want, info.Name)
		}
		if got := [2]module.ValueType{info.NaN, info.Lanes}; got != expected {
			t.Errorf("%s: NaN of type %v, want %v", op, got, expected)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
