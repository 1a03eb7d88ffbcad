package record

import (
	"maps"
	"math"
	"slices"
)

// Writer appends values to Out.
type Writer struct{ Out []byte }

// Begin starts a record of n fields.
func (w *Writer) Begin(n int) { w.u16(n) }

// Field starts the field of the given handle; its value must follow.
func (w *Writer) Field(handle int) { w.u16(handle) }

func (w *Writer) header(k Kind, length int) {
	w.Out = append(w.Out, byte(k))
	w.u32(length)
}

// Missing writes a missing value.
func (w *Writer) Missing() { w.header(Missing, 0) }

// String writes a String.
func (w *Writer) String(s string) {
	w.header(String, len(s))
	w.Out = append(w.Out, s...)
}

// JSON writes a JSON value; text must be JSON.
func (w *Writer) JSON(text []byte) {
	w.header(JSON, len(text))
	w.Out = append(w.Out, text...)
}

// Bool writes a Bool.
func (w *Writer) Bool(b bool) {
	w.header(Bool, 1)
	if b {
		w.Out = append(w.Out, 1)
	} else {
		w.Out = append(w.Out, 0)
	}
}

// Int writes an Int.
func (w *Writer) Int(n int64) {
	w.header(Int, 8)
	w.u64(uint64(n))
}

// Float writes a Float.
func (w *Writer) Float(f float64) {
	w.header(Float, 8)
	w.u64(math.Float64bits(f))
}

// List writes a List of n elements, each written by one call of element.
func (w *Writer) List(n int, element func(i int)) {
	w.header(List, 0)
	begin := len(w.Out)
	w.u32(n)
	for i := range n {
		element(i)
	}
	w.end(begin)
}

// Map writes a Map.
func (w *Writer) Map(m map[string]string) {
	w.header(Map, 0)
	begin := len(w.Out)
	w.u32(len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		for _, s := range [...]string{key, m[key]} {
			w.u32(len(s))
			w.Out = append(w.Out, s...)
		}
	}
	w.end(begin)
}

// end writes the number of bytes since begin into the header at begin.
func (w *Writer) end(begin int) {
	length := Writer{w.Out[:begin-4]}
	length.u32(len(w.Out) - begin)
}

func (w *Writer) u16(n int) { w.Out = append(w.Out, byte(n), byte(n>>8)) }

func (w *Writer) u32(n int) { w.Out = append(w.Out, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) }

func (w *Writer) u64(n uint64) {
	w.u32(int(uint32(n)))
	w.u32(int(n >> 32))
}
