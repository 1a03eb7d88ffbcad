package record

import "testing"

// FuzzParse reads every part of whatever Parse accepts, and wants it to be
// exactly what Writer would have written.
func FuzzParse(f *testing.F) {
	f.Add(string(sample()), uint8(8))
	f.Add("\x00\x00", uint8(0))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		fields := make([]Value, n%(MaxFields+1))
		if Parse(text, fields) != nil {
			return
		}
		var w Writer
		w.Begin(len(fields))
		for handle, v := range fields {
			w.Field(handle)
			again(&w, v)
		}
		if len(w.Out) != len(text) {
			t.Errorf("%d bytes were read, %d were there", len(w.Out), len(text))
		}
	})
}

func again(w *Writer, v Value) {
	switch v.Kind {
	case Missing:
		w.Missing()
	case String:
		w.String(v.Text())
	case Bool:
		w.Bool(v.Bool())
	case Int, Float:
		w.Int(v.Int())
	case List:
		var elements []Value
		for element := range v.Elements() {
			elements = append(elements, element)
		}
		w.List(v.Len(), func(i int) { again(w, elements[i]) })
	case Map:
		n := 0
		entries := make(map[string]string)
		for key, value := range v.Entries() {
			n++
			entries[key] = value
		}
		if n != v.Len() || n != len(entries) {
			// Twice the same key: nothing a Writer writes, and harmless.
			w.Out = append(w.Out, make([]byte, 5+len(v.data))...)
			return
		}
		w.Map(entries)
	case JSON:
		w.JSON([]byte(v.Text()))
	}
}
