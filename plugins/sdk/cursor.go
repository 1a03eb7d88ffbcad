package sdk

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// Cursor iterates over the elements of a list one by one. Use cursors instead of Zip to
// iterate over more than two lists side by side.
//
//	names, sizes, owners := name.Cursor(), size.Cursor(), owner.Cursor()
//	for n, ok := names.Next(); ok; n, ok = names.Next() {
//		s, o := sizes.Take(), owners.Take()
//		…
type Cursor struct {
	parts record.Parts
	field *Field
}

// Cursor returns a cursor before the first element of a list.
func (v Value) Cursor() Cursor { return Cursor{v.parts(KindList), v.field} }

// Cursor returns Value.Cursor of the field.
func (f *Field) Cursor() Cursor { return f.Value().Cursor() }

// Next returns the next element, and false after the last.
func (c *Cursor) Next() (element Value, ok bool) {
	of, ok := c.parts.Next()
	if !ok && c.parts.More() {
		c.field.left(c.parts)
	}
	return Value{of, c.field}, ok
}

// Take returns the next element. If there is none, the call fails.
func (c *Cursor) Take() Value {
	element, ok := c.Next()
	if !ok {
		guest.Fault("field " + c.field.path + " is a shorter list than those beside it")
	}
	return element
}
