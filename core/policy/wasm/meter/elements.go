package meter

import (
	"encoding/binary"
	"strconv"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

func globalName(i int) string { return Global + strconv.Itoa(i) }

// expression appends an initialiser, with the new function numbers.
func (w *rewriter) expression(out, expression []byte) []byte {
	at := 0
	if len(expression) > 0 && module.Op(expression[0]) == module.OpRefFunc {
		index, n := binary.Uvarint(expression[1:])
		out = append(out, expression[0])
		out = binary.AppendUvarint(out, uint64(w.function(uint32(index))))
		at = 1 + n
	}
	return append(out, expression[at:]...)
}

// elementSection returns the module's elements, with the new function numbers.
func (w *rewriter) elementSection() []byte {
	out := binary.AppendUvarint(nil, uint64(len(w.m.Elements)))
	for i := range w.m.Elements {
		out = w.element(out, &w.m.Elements[i])
	}
	return out
}

// element appends a segment: its flags, the table and offset if they are needed,
// the type of the elements, and the elements. The flags have three bits: passive or
// declared, with a table index or declared, and elements as expressions.
func (w *rewriter) element(out []byte, e *module.Element) []byte {
	const passive, second, expressions = 1, 2, 4
	flags := byte(0)
	switch {
	case e.Mode == module.Passive:
		flags = passive
	case e.Mode == module.Declared:
		flags = passive | second
	case e.Table != 0 || e.Type != module.FuncRef:
		flags = second
	}
	if e.OfExpressions {
		flags |= expressions
	}
	out = append(out, flags)
	if e.Mode == module.Active {
		if flags&second != 0 {
			out = binary.AppendUvarint(out, uint64(e.Table))
		}
		out = w.expression(out, e.At)
	}
	if flags&(passive|second) != 0 {
		if flags&expressions != 0 {
			out = append(out, byte(e.Type))
		} else {
			out = append(out, 0) // functions
		}
	}
	out = binary.AppendUvarint(out, uint64(e.Len()))
	for _, index := range e.Functions {
		out = binary.AppendUvarint(out, uint64(w.function(index)))
	}
	for _, expression := range e.Expressions {
		out = w.expression(out, expression)
	}
	return out
}
