package attack

// generated returns the sources, by name, that are too long to be written by hand.
func generated() map[string]string {
	texts := map[string]string{}
	for name, s := range map[string]func() string{
		"stack-wide": wideStack, "stack-live-values": liveValues, "stack-locals": manyLocals, "stack-vectors": vectorLocals,
		"size-operands": operands, "size-locals": tooManyLocals, "size-parameters": parameters, "size-labels": labels,
		"size-nesting": nesting, "size-nesting-locals": nestingLocals, "size-blocks": blocks, "size-body": body, "size-code": code,
		"size-module": module, "size-metered": meteredSize, "meter-variables": meterVariables,
	} {
		texts[name] = s()
	}
	for name, s := range map[string]struct {
		what, refused, text string
		n                   int
	}{
		"size-functions": {"10 001 functions.", "at most 10000 are supported", "(func)\n", 10_001},
		"size-globals":   {"1 001 globals.", "1001 elements: at most 1000 are supported", "(global (mut i64) (i64.const 0))\n", 1001},
		"size-types":     {"4 097 types.", "at most 4096 are supported", "(type (func))\n", 4097},
		"size-exports":   {"Exports without an end.", "at most 1000 are supported", "", 1001},
		"size-data":      {"65 537 segments of data.", "65537 elements: at most 65536 are supported", "(data \"\")\n", 65_537},
		"size-elements":  {"1 025 segments of elements.", "1025 elements: at most 1024 are supported", "(elem func)\n", 1025},
		"size-items":     {"Segments of elements that are passive, and would take 32 bytes for each.", "elements together: at most 65536 are supported", "", 17},
	} {
		texts[name] = repeated(name, s.what, s.refused, s.text, s.n)
	}
	return texts
}

// repeated returns a module that has too many of something.
func repeated(name, what, refused, text string, n int) string {
	s := begin(1, what, "refused: AbiMismatch "+refused)
	for i := range n {
		switch name {
		case "size-exports":
			s.add("(export \"e%d\" (func 0))\n", i)
		case "size-items":
			s.add("(elem func")
			s.repeat(4096, " 0")
			s.add(")\n")
		default:
			s.add("%s", text)
		}
	}
	return s.admit("(i32.const 0)")
}

const nestedTooDeeply = "ends: StackLimit calls are nested too deeply"

// wideStack returns a module that calls itself while its operand stack is high.
func wideStack() string {
	const operands = 900
	s := begin(1, "A recursion of a function of some 36 KB that holds 900 operands while it calls itself: 500 of them take 100 MB.", nestedTooDeeply)
	s.add("(func $down (param $n i64) (result i64)\n")
	for i := range operands {
		s.add("(i64.load (i32.wrap_i64 (i64.and (i64.mul (local.get $n) (i64.const %d)) (i64.const 0x7fff))))\n", 1_000_003*(i+1))
	}
	s.add("(call $down (i64.add (local.get $n) (i64.const 1)))\n")
	for i := range operands {
		s.add("i64.const %d i64.xor i64.mul i64.const 7 i64.rotl\n", 1_000_000_007*(i+1))
	}
	s.add(")\n")
	return s.admit("(i32.wrap_i64 (call $down (i64.const 1)))")
}

// liveValues returns a module with many values that are live across calls.
func liveValues() string {
	const values = 900
	s := begin(1, "A recursion of a function with 900 values that are needed after its call, which lie in no variable of their own.", nestedTooDeeply)
	s.add("(func $down (param $n i64) (result i64)\n")
	s.locals(values, "i64")
	for i := range values {
		s.add("(local.set %d (i64.add (local.get $n) (i64.const %d)))\n", i+1, 1_000_000_007*(i+1))
	}
	s.add("(local.set $n (call $down (i64.add (local.get $n) (i64.const 1))))\n(local.get $n)\n")
	for i := range values {
		s.add("local.get %d i64.mul\n", i+1)
	}
	s.add(")\n")
	return s.admit("(i32.wrap_i64 (call $down (i64.const 1)))")
}

// manyLocals returns a module with as many variables as allowed.
func manyLocals() string {
	s := begin(1, "A recursion of a function with 1 000 local variables that nobody uses.", nestedTooDeeply)
	s.add("(func $down (result i32)\n")
	s.locals(1000, "i64")
	s.add("(i32.add (call $down) (i32.const 1)))\n")
	return s.admit("(call $down)")
}

// vectorLocals returns a module with variables of 16 bytes each.
func vectorLocals() string {
	const values = 900
	s := begin(1, "A recursion of a function with 900 vectors that are needed after its call.", nestedTooDeeply)
	s.add("(func $down (param $v v128) (result v128)\n")
	s.locals(values, "v128")
	for i := range values {
		s.add("(local.set %d (i64x2.add (local.get $v) (v128.const i64x2 %d 7)))\n", i+1, i)
	}
	s.add("(call $down (local.get $v))\n")
	for i := range values {
		s.add("local.get %d v128.xor\n", i+1)
	}
	s.add(")\n")
	return s.admit("(i8x16.extract_lane_u 0 (call $down (v128.const i64x2 1 2)))")
}

func operands() string {
	s := begin(1, "1 025 operands on the stack.", "refused: AbiMismatch 1025 operands on the stack: at most 1024 are supported")
	s.add("(func\n")
	s.repeat(1025, "i32.const 1\n")
	s.repeat(1025, "drop\n")
	s.add(")\n")
	return s.admit("(i32.const 0)")
}

func tooManyLocals() string {
	s := begin(1, "1 001 local variables.", "refused: AbiMismatch 1001 local variables: at most 1000 are supported in a function")
	s.add("(func\n")
	s.locals(1001, "i32")
	s.add(")\n")
	return s.admit("(i32.const 0)")
}

func parameters() string {
	s := begin(1, "A type of 1 000 parameters.", "refused: AbiMismatch 1000 parameters and results: at most 64 are supported")
	s.add("(type (func (param")
	s.repeat(1000, " v128")
	s.add(")))\n")
	return s.admit("(i32.const 0)")
}

func labels() string {
	s := begin(1, "A table of branches with 10 000 labels.", "refused: AbiMismatch br_table with 10000 labels: at most 4096 are supported")
	s.add("(func (br_table")
	s.repeat(10_000, " 0")
	s.add(" (i32.const 0)))\n")
	return s.admit("(i32.const 0)")
}

// nested writes a function of nested blocks.
func (s *source) nested(depth, locals int) {
	s.add("(func\n")
	s.locals(locals, "i32")
	s.repeat(depth, "block ")
	s.repeat(depth, "end ")
	s.add(")\n")
}

func nesting() string {
	s := begin(1, "Blocks 3 000 deep in each other: what reads them by calling itself would need as much stack.", "refused: AbiMismatch blocks 2049 deep: at most 2048 are supported")
	s.nested(3000, 1)
	return s.admit("(i32.const 0)")
}

func nestingLocals() string {
	s := begin(1, "Blocks 65 deep in a function of 101 variables.", "refused: AbiMismatch blocks 65 deep: at most 64 are supported in a function with 101 local variables")
	s.nested(65, 101)
	return s.admit("(i32.const 0)")
}

func blocks() string {
	s := begin(1, "200 loops, one after the other, over 1 000 variables: together they take the compiler seconds.",
		"refused: AbiMismatch 200 blocks and branches, and 1000 local variables: with 3 more for metering their product may be at most 200000")
	s.add("(func\n")
	s.locals(1000, "i32")
	s.repeat(200, "loop end ")
	s.add(")\n")
	return s.admit("(i32.const 0)")
}

func body() string {
	s := begin(1, "A function of more than 64 KiB.", "refused: AbiMismatch at most 65536 are supported in a function")
	s.add("(func\n")
	s.repeat(65_536, "nop ")
	s.add(")\n")
	return s.admit("(i32.const 0)")
}

func code() string {
	s := begin(1, "More than 3 MiB of code, in functions that are small enough.", "refused: AbiMismatch bytes of code: at most 3145728 are supported")
	for range 50 {
		s.add("(func\n")
		for range 16 {
			s.add("(block (br_table")
			s.repeat(4000, " 0")
			s.add(" (i32.const 0)))\n")
		}
		s.add(")\n")
	}
	return s.admit("(i32.const 0)")
}

func module() string {
	s := begin(80, "A module of more than 4 MiB.", "pages: 80", "refused: AbiMismatch at most 4194304 are supported")
	s.add("(data (i32.const 0) \"")
	s.repeat(4<<20, "a")
	s.add("\")\n")
	return s.admit("(i32.const 0)")
}

// meteredSize returns a module that is expensive for the pass that adds fuel counting, which runs
// in the agent.
func meteredSize() string {
	s := begin(1, "700 functions of 1 000 empty loops: with what counts the fuel the code becomes 20 times as long. 0.1 s for 2 MB.",
		"refused: AbiMismatch with what counts its fuel the code has more than")
	for range 700 {
		s.add("(func (param i32)\n")
		s.repeat(1000, "loop end ")
		s.add(")\n")
	}
	return s.admit("(i32.const 0)")
}

// meterVariables returns a module that is expensive for looking up the types of variables.
func meterVariables() string {
	const groups, loops, functions = 1000, 99, 20
	s := begin(1, "Loops that change 30 of 1 000 variables, each of another type than the one before. 60 ms for 400 KB before it is compiled.",
		"answers: allow")
	for range functions {
		s.add("(func\n(local")
		s.repeat(groups/2, " i32 i64")
		s.add(")\n")
		for range loops {
			s.add("loop ")
			for i := range 30 {
				s.add("(local.set %d (local.get %d)) ", 938+2*i, 936+2*i)
			}
			s.add("(br_if 0 (local.get 0)) end\n")
		}
		s.add(")\n")
	}
	return s.admit("(i32.const 0)")
}
