package wasm

// valueTypes are those of one byte, which are all that is read. wazero also
// reads types of several: were they let through, it would find other numbers
// in a section than those that were checked.
var valueTypes = map[byte]string{
	0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref",
}

// valueType reads a type.
func (r *reader) valueType() byte {
	const nullable, typed = 0x63, 0x64
	t := r.byte()
	if _, ok := valueTypes[t]; !ok {
		if t == nullable || t == typed {
			r.fail("typed references are not supported in this version")
		} else {
			r.fail("values of type %#x are not supported in this version", t)
		}
	}
	return t
}

// valueTypes reads a list of types.
func (r *reader) valueTypes() []byte {
	n := r.count()
	begin := r.at
	for range n {
		r.valueType()
	}
	if r.err != nil {
		return nil
	}
	return r.data[begin:r.at]
}
