package sdk

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// Cursor goes through the elements of a list one by one: Zip for more than two
// lists that belong side by side.
//
//	names, sizes, owners := name.Cursor(), size.Cursor(), owner.Cursor()
//	for n, ok := names.Next(); ok; n, ok = names.Next() {
//		s, o := sizes.Take(), owners.Take()
//		…
type Cursor struct {
	parts record.Parts
	field *Field
}

// Cursor stands before the first element of a list.
func (v Value) Cursor() Cursor { return Cursor{v.parts(KindList), v.field} }

// Cursor is Value.Cursor of the field.
func (f *Field) Cursor() Cursor { return f.Value().Cursor() }

// Next is the next element; false after the last one.
func (c *Cursor) Next() (element Value, ok bool) {
	of, ok := c.parts.Next()
	if !ok && c.parts.More() {
		c.field.left(c.parts)
	}
	return Value{of, c.field}, ok
}

// Take is the next element, which must be there: if it is not, the call fails.
func (c *Cursor) Take() Value {
	element, ok := c.Next()
	if !ok {
		guest.Fault("field " + c.field.path + " is a shorter list than those beside it")
	}
	return element
}
