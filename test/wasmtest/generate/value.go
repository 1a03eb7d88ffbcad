package generate

import (
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// nothing is the key in computing of the instructions without a result. computing are the
// instructions that have a signature, by the type of their result.
const nothing module.ValueType = 0

var computing = func() map[module.ValueType][]module.Op {
	all := map[module.ValueType][]module.Op{}
	for _, prefix := range []module.Op{0, 0xfc << 16, 0xfd << 16} {
		for n := range module.Op(256) {
			s, ok := SignatureOf(prefix | n)
			if !ok {
				continue
			}
			result := nothing
			if len(s.Results) > 0 {
				result = s.Results[0]
			}
			all[result] = append(all[result], prefix|n)
		}
	}
	return all
}()

// value leaves a value of a type on the stack.
func (f *function) value(t module.ValueType, depth int) {
	if depth <= 0 || f.left <= 0 {
		f.simple(t)
		return
	}
	switch f.choose(20) {
	case 0, 1:
		f.simple(t)
	case 2:
		f.values([]module.ValueType{t, t, module.I32}, depth-1)
		if t == module.FuncRef || t == module.ExternRef || f.once(2) {
			f.code(Encode(module.OpSelectTyped), []byte{1, byte(t)})
		} else {
			f.op(module.OpSelect)
		}
	case 3:
		f.enclosed(module.OpBlock, []byte{byte(t)}, label{types: one(t)}, func() {
			f.statements(f.choose(3), depth-1)
			f.value(t, depth-1)
		})
	case 4:
		f.value(module.I32, depth-1)
		f.enclosed(module.OpIf, []byte{byte(t)}, label{types: one(t)}, func() {
			f.value(t, depth-1)
			f.op(module.OpElse)
			f.value(t, depth-1)
		})
	case 5:
		f.enclosed(module.OpLoop, []byte{byte(t)}, label{back: true}, func() {
			f.statements(1+f.choose(2), depth-1)
			f.value(t, depth-1)
		})
	case 6:
		f.value(t, depth-1)
		f.op(module.OpLocalTee, f.local(t))
	case 7:
		f.callFor(t, depth)
	case 8, 9:
		f.fromTables(t, depth)
	default:
		f.operation(t, depth)
	}
}

// simple leaves a value on the stack without computing one.
func (f *function) simple(t module.ValueType) {
	switch f.choose(4) {
	case 0, 1:
		f.op(module.OpLocalGet, f.local(t))
	case 2:
		f.constant(t)
	default:
		index := variable(t)
		if f.once(3) {
			index = constant(t)
		}
		f.op(module.OpGlobalGet, index)
	}
}

func (f *function) constant(t module.ValueType) {
	f.left--
	f.code(f.initial(t))
}

// traps are instructions that trap for many operands.
var traps = map[string]bool{}

func init() {
	for _, result := range []string{"i32", "i64"} {
		for _, from := range []string{"f32", "f64"} {
			traps[result+".trunc_"+from+"_s"], traps[result+".trunc_"+from+"_u"] = true, true
		}
	}
}

// operation leaves the result of an instruction on the stack.
func (f *function) operation(t module.ValueType, depth int) {
	ops := computing[t]
	if len(ops) == 0 {
		f.fromTables(t, depth)
		return
	}
	op := ops[f.choose(len(ops))]
	if traps[op.String()] && f.choose(4) > 0 {
		f.simple(t)
		return
	}
	f.apply(op, depth)
}

// apply computes an instruction's operands, and then executes the instruction. Mostly, addresses
// and divisors do not trap.
func (f *function) apply(op module.Op, depth int) {
	s, _ := SignatureOf(op)
	name := op.String()
	for i, p := range s.Params {
		f.value(p, depth-1)
		switch {
		case i == 0 && p == module.I32 && (strings.Contains(name, ".load") || strings.Contains(name, ".store")) && !f.once(32):
			f.code(wasmtest.I32Const(0x7fff), []byte{0x71}) // i32.and
		case i == 1 && (strings.Contains(name, ".div_") || strings.Contains(name, ".rem_")) && !f.once(16):
			switch p {
			case module.I32:
				f.code(wasmtest.I32Const(1), []byte{0x72}) // i32.or
			case module.I64:
				f.code(wasmtest.I64Const(1), []byte{0x84}) // i64.or
			}
		}
	}
	f.op(op)
	f.code(Operand(op, f.choose))
	info, _ := op.Info()
	if f.Settled {
		f.settleNaN(info)
	}
}

func (f *function) settleNaN(info *module.Info) {
	switch {
	case info.NaN == module.F32:
		f.code(wasmtest.Call(wasmtest.Func(f.settle)))
	case info.NaN == module.F64:
		f.code(wasmtest.Call(wasmtest.Func(f.settle + 1)))
	case info.Lanes == module.F32:
		f.code(wasmtest.Call(wasmtest.Func(f.settle + 2)))
	case info.Lanes == module.F64:
		f.code(wasmtest.Call(wasmtest.Func(f.settle + 3)))
	}
}

// callFor calls a function whose only result is of the type, if there is one.
func (f *function) callFor(t module.ValueType, depth int) {
	begin := f.choose(len(f.functions))
	for i := range f.functions {
		number := (begin + i) % len(f.functions)
		if signature := types[f.functions[number]]; slices.Equal(signature.Results, one(t)) {
			f.values(signature.Params, depth-1)
			f.op(module.OpCall, uint32(number))
			return
		}
	}
	f.simple(t)
}
