package record

import (
	"strings"
	"testing"
)

// FuzzParse reads every part of each record that Parse accepts. If all parts are valid, it
// checks that Writer writes exactly the same bytes.
func FuzzParse(f *testing.F) {
	f.Add(string(sample()), uint8(8))
	f.Add("\x00\x00", uint8(0))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		n %= MaxFields + 1
		if fields, err := parse(text, int(n), uint64(n)*0x0101010101010101); err == nil {
			whole(fields) // must not fail, whatever the record holds
		}
		fields, err := parse(text, int(n), 0)
		if err != nil || !whole(fields) {
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

// whole reads all parts of all fields, and reports whether each is valid.
func whole(fields []Value) bool {
	ok := true
	for _, v := range fields {
		ok = walk(v, 0) && v.sound(maxDepth) && v.Kind() <= JSON && ok
	}
	return ok
}

func walk(v Value, depth int) bool {
	v.HasBool(true, &oddity{})
	v.HasBool(false, &oddity{})
	n := 0
	switch v.Kind() {
	case String, JSON:
		return len(strings.Clone(v.Text())) == v.Size()
	case List:
		parts := v.Parts()
		for {
			element, ok := parts.Next()
			if !ok {
				return n == v.Len() && !parts.More()
			}
			if n++; depth > 100 || element.Kind() > JSON || !walk(element, depth+1) {
				return false
			}
		}
	case Map:
		for key, value := range v.Entries() {
			_ = strings.Clone(key + value)
			n++
		}
	}
	return true
}

func again(w *Writer, v Value) {
	switch v.Kind() {
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
			// The key occurs twice. Writer never writes that, and it is harmless.
			w.Out = append(w.Out, make([]byte, 5+v.Size())...)
			return
		}
		w.Map(entries)
	case JSON:
		w.JSON([]byte(v.Text()))
	}
}
