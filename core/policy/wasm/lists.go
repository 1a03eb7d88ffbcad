package wasm

// readData reads a piece of the memory.
func readData(r *reader) {
	const passive, named = 1, 2
	mode := r.u32()
	switch mode {
	case passive:
	case named:
		r.u32() // the memory
		skipExpression(r)
	case 0:
		skipExpression(r)
	default:
		r.fail("data of unknown kind %d", mode)
	}
	r.take(r.u32())
}

// readCode reads the local variables of a function and leaves its body out.
func (l *layout) readCode(r *reader) {
	size := r.u32()
	body := &reader{data: r.data, at: r.at}
	r.take(size)
	total := uint64(0)
	for range body.count() {
		total += uint64(body.u32())
		body.valueType()
	}
	l.locals += total
	switch {
	case r.err != nil:
	case body.err != nil:
		r.err = body.err
	case total > maxLocals:
		r.fail("a function with %d local variables: at most %d are supported in this version", total, maxLocals)
	case l.locals > maxAllLocals:
		r.fail("functions with %d local variables together: at most %d are supported in this version", l.locals, maxAllLocals)
	}
}

// skipExpression reads past an initialiser.
func skipExpression(r *reader) {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x23, 0xd2, 0x41, 0xd0: // global.get, ref.func, i32.const, ref.null
			r.leb(5)
		case 0x42: // i64.const
			r.leb(10)
		case 0x43: // f32.const
			r.take(4)
		case 0x44: // f64.const
			r.take(8)
		case 0xfd: // v128.const
			r.leb(5)
			r.take(16)
		default:
			r.fail("unknown instruction %#x in an initialiser", op)
		}
	}
}
