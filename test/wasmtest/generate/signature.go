package generate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// Signature has the types that an instruction pops and pushes.
type Signature struct{ Params, Results []module.ValueType }

var (
	scalars = map[string]module.ValueType{"i32": module.I32, "i64": module.I64, "f32": module.F32, "f64": module.F64}
	// lanes are the types of a vector's lanes on the operand stack, and their number.
	lanes = map[string]struct {
		of    module.ValueType
		count int
	}{
		"i8x16": {module.I32, 16}, "i16x8": {module.I32, 8}, "i32x4": {module.I32, 4}, "i64x2": {module.I64, 2},
		"f32x4": {module.F32, 4}, "f64x2": {module.F64, 2},
	}
	comparisons = strings.Fields("eqz eq ne lt gt le ge lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u")
	conversion  = regexp.MustCompile(`_(i32|i64|f32|f64)(_[su])?$`)
)

// SignatureOf derives the signature of an instruction from its name, by the naming rules of the
// specification. ok is false for instructions whose types depend on their operands, and for control
// flow.
func SignatureOf(op module.Op) (s Signature, ok bool) {
	info, ok := op.Info()
	if !ok {
		return s, false
	}
	kind, operation, _ := strings.Cut(info.Name, ".")
	if t, ok := scalars[kind]; ok {
		return scalar(t, operation), true
	}
	if lane, ok := lanes[kind]; ok {
		return vector(lane.of, operation), true
	}
	if kind == "v128" {
		return whole(operation), true
	}
	return s, false
}

func signature(result []module.ValueType, params ...module.ValueType) Signature {
	return Signature{Params: params, Results: result}
}

func one(t module.ValueType) []module.ValueType { return []module.ValueType{t} }

// scalar returns the signature of instructions on i32, i64, f32 and f64.
func scalar(t module.ValueType, operation string) Signature {
	switch from := conversion.FindStringSubmatch(operation); {
	case operation == "const":
		return signature(one(t))
	case strings.HasPrefix(operation, "load"):
		return signature(one(t), module.I32)
	case strings.HasPrefix(operation, "store"):
		return signature(nil, module.I32, t)
	case operation == "eqz":
		return signature(one(module.I32), t)
	case slices.Contains(comparisons, operation):
		return signature(one(module.I32), t, t)
	case from != nil:
		return signature(one(t), scalars[from[1]])
	case slices.Contains(strings.Fields("clz ctz popcnt abs neg ceil floor trunc nearest sqrt extend8_s extend16_s extend32_s"), operation):
		return signature(one(t), t)
	}
	return signature(one(t), t, t)
}

// vector returns the signature of instructions on lanes.
func vector(lane module.ValueType, operation string) Signature {
	unary := []string{"abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt", "popcnt"}
	switch {
	case operation == "splat":
		return signature(one(module.V128), lane)
	case strings.HasPrefix(operation, "extract_lane"):
		return signature(one(lane), module.V128)
	case operation == "replace_lane":
		return signature(one(module.V128), module.V128, lane)
	case operation == "all_true", operation == "bitmask":
		return signature(one(module.I32), module.V128)
	case strings.HasPrefix(operation, "shl"), strings.HasPrefix(operation, "shr"):
		return signature(one(module.V128), module.V128, module.I32)
	case slices.Contains(unary, operation), converts(operation):
		return signature(one(module.V128), module.V128)
	}
	return signature(one(module.V128), module.V128, module.V128)
}

// converts reports whether an instruction converts the lanes of one vector to other lanes.
func converts(operation string) bool {
	for _, prefix := range []string{"extend_", "extadd_", "trunc_sat_", "convert_", "demote_", "promote_"} {
		if strings.HasPrefix(operation, prefix) {
			return true
		}
	}
	return false
}

// whole returns the signature of instructions on 128 bits.
func whole(operation string) Signature {
	lane := strings.HasSuffix(operation, "_lane")
	switch {
	case operation == "const":
		return signature(one(module.V128))
	case strings.HasPrefix(operation, "load") && lane:
		return signature(one(module.V128), module.I32, module.V128)
	case strings.HasPrefix(operation, "load"):
		return signature(one(module.V128), module.I32)
	case strings.HasPrefix(operation, "store"):
		return signature(nil, module.I32, module.V128)
	case operation == "any_true":
		return signature(one(module.I32), module.V128)
	case operation == "not":
		return signature(one(module.V128), module.V128)
	case operation == "bitselect":
		return signature(one(module.V128), module.V128, module.V128, module.V128)
	}
	return signature(one(module.V128), module.V128, module.V128)
}
