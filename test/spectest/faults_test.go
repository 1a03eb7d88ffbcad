package spectest

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// empty is the smallest module.
const empty = "\x00asm\x01\x00\x00\x00"

// replace changes code or data wherever it occurs. Both have the same length.
func replace(right, wrong string) Transform {
	return func(module []byte) ([]byte, error) {
		return bytes.ReplaceAll(module, []byte(right), []byte(wrong)), nil
	}
}

// binary returns the whole body of a function that applies an instruction to its two parameters,
// beginning with the first local.get.
func binary(instruction string) string { return "\x20\x00\x20\x01" + instruction + "\x0b" }

// trapInsteadOfCall changes the functions that only call another function, or themselves.
func trapInsteadOfCall(module []byte) ([]byte, error) {
	body := regexp.MustCompile(`(?s)\x04\x00\x10.\x0b`)
	return body.ReplaceAll(module, []byte("\x04\x00\x00\x01\x0b")), nil
}

// faults are wrong transforms, each wrong in its own way.
var faults = []struct {
	name, suite, script string
	wrong               Transform
	// finds is a part of a difference.
	finds string
	// unseen: only the comparison finds the fault, no assertion of the script.
	unseen bool
}{
	{
		name: "an addition subtracts", suite: "v1", script: "i32.json", wrong: replace(binary("\x6a"), binary("\x6b")),
		finds: "assert_return: i32:0x00000000\n\tdiffers from\n\ti32.json:35 (1) assert_return: i32:0x00000002",
	},
	{
		name: "a valid module is refused", suite: "v1", script: "address.json", finds: "module: refused: transform [f64.load is not metered]",
		wrong: func(module []byte) ([]byte, error) {
			if bytes.Contains(module, []byte("\x2b\x03\x00")) {
				return nil, errors.New("f64.load is not metered")
			}
			return module, nil
		},
	},
	{
		name: "another trap", suite: "v1", script: "i32.json", wrong: replace(binary("\x6d"), "\x00\x01\x01\x01\x01\x0b"),
		finds: "assert_trap: trap: unreachable [wasm error: unreachable",
	},
	{
		name: "no trap", suite: "v1", script: "i64.json", wrong: replace(binary("\x7f"), binary("\x7e")),
		finds: "differs from\n\ti64.json:62 (25) assert_trap: trap: integer divide by zero",
	},
	{
		name: "a recursion traps before the stack ends", suite: "v2", script: "call.json", wrong: trapInsteadOfCall,
		finds: "assert_exhaustion: trap: unreachable",
	},
	{
		name: "an invalid module becomes valid", suite: "v2", script: "unreached-invalid.json", wrong: func([]byte) ([]byte, error) { return []byte(empty), nil },
		finds: "assert_invalid: instantiated",
	},
	{
		name: "an import that is missing is made up", suite: "v2", script: "imports.json", finds: "assert_unlinkable: instantiated",
		wrong: func(module []byte) ([]byte, error) {
			if bytes.Contains(module, []byte("\x07unknown\x00")) {
				return []byte(empty), nil
			}
			return module, nil
		},
	},
	{
		name: "an import is lost", suite: "v1", script: "imports.json", wrong: replace("\x08spectest", "\x08spectesu"),
		finds: "module: refused: link: module[spectesu] not instantiated",
	},
	{
		name: "a memory begins with other data", suite: "v2", script: "data.json", wrong: replace("\x41\x00\x0b\x01a", "\x41\x00\x0b\x01b"),
		finds: "ends with the memory 65536 bytes", unseen: true,
	},
	{
		name: "a global begins with another value", suite: "v2", script: "global.json", wrong: replace("\x41\x7e\x0b", "\x41\x7d\x0b"),
		finds: "ends with the globals [",
	},
	{
		name: "a NaN that is not canonical", suite: "v1", script: "f32.json", wrong: replace(binary("\x95"), "\x43\x01\x00\xc0\x7f\x0b"),
		finds: "assert_return: f32:0x7fc00001\n\tdiffers from\n\tf32.json:1219 (1201) assert_return: f32:nan:canonical",
	},
	{
		name: "the bits of a NaN that is only moved", suite: "v2", script: "f32_bitwise.json", wrong: replace(binary("\x98"), "\x43\x01\x00\xc0\x7f\x0b"),
		finds: "assert_return: f32:0x7fc00001",
	},
	{
		name: "a lane of a vector", suite: "v2", script: "simd_i64x2_arith.json", wrong: replace(binary("\xfd\xce\x01"), binary("\xfd\xd1\x01")),
		finds: "assert_return: v128:i64(0x0000000000000000 0x0000000000000000)",
	},
	{
		name: "a memory does not grow", suite: "v2", script: "memory_grow.json", wrong: replace("\x20\x00\x40\x00\x0b", "\x41\x7f\x01\x01\x0b"),
		finds: "assert_return: i32:0xffffffff",
	},
	{
		name: "a fault of wazero is mended", suite: "v2", script: "elem.json", finds: "assert_uninstantiable: refused: transform",
		wrong: func(module []byte) ([]byte, error) {
			if bytes.Contains(module, []byte("\x09\x07\x01\x00\x41\x00\x0b\x01\x00")) {
				return nil, errors.New("elements do not fit")
			}
			return module, nil
		},
	},
}

func TestEveryFaultOfATransformIsFound(t *testing.T) {
	t.Parallel()
	features := map[string]version{}
	for _, s := range suites {
		features[s.name] = s
	}
	for _, f := range faults {
		for _, e := range engines {
			t.Run(f.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				c := config(t, e.config(), features[f.suite].features)
				before := runFile(t, suite(t, f.suite), f.script, c)
				c.Transform = f.wrong
				after := runFile(t, suite(t, f.suite), f.script, c)
				all := strings.Join(Compare(before, after), "\n")
				if !strings.Contains(all, f.finds) {
					t.Errorf("the comparison does not find %q, but:\n%.2000s", f.finds, all)
				}
				if found := len(after.Faults()) > 0; found == f.unseen {
					t.Errorf("the assertions find a fault: %v, want %v", found, !f.unseen)
				}
			})
		}
	}
}
