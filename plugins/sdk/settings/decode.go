package settings

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Decode reads the whole table of settings into *into.
//
// A setting is decoded into the exported field of the same name. The name of a field is the
// name in its tag `setting:"…"`. Without a tag, it is the field's own name in lower case,
// with an underscore before each further word (MaxAge is max_age). A field whose tag is "-"
// is for no setting. These types of fields are supported: strings, bools, integers of all
// sizes, float64, structs (tables); pointers to strings, bools, int64 and float64 (nil if
// the setting is missing); slices of all these except pointers, and slices of slices; maps
// with string keys and values that are strings, int64 or slices of strings. Use JSON for
// other types. If a setting is missing, its field does not change. A list or map of a
// setting replaces the whole content of its field.
//
// The error names every setting that does not fit.
func Decode[T any](into *T) error {
	return decode(reflect.TypeFor[T](), unsafe.Pointer(into))
}

func decode(t reflect.Type, into unsafe.Pointer) error {
	if t.Kind() != reflect.Struct {
		return errors.New("settings.Decode wants a pointer to a struct")
	}
	table, err := guest.Settings()
	if err != nil {
		return err
	}
	d := decoder{parser: parser{text: table}}
	if table != "" {
		d.decode("", t, into)
	}
	return d.err(d.torn)
}

// JSON returns the whole table of settings as JSON, for types that Decode does not support.
// It is empty if there are no settings.
func JSON() ([]byte, error) {
	table, err := guest.Settings()
	return []byte(table), err
}

// decoder reads the JSON text of the table, and fills the struct at the same time.
type decoder struct {
	parser
	faults
}

// mismatch adds the fault that a setting has the wrong type.
func (d *decoder) mismatch(path string, t reflect.Type, found string) {
	d.add("setting " + path + " must be " + wanted(t) + ", but it is " + found)
}

// decode decodes the next value into the variable of type t at p.
func (d *decoder) decode(path string, t reflect.Type, p unsafe.Pointer) {
	kind := t.Kind()
	if kind == reflect.Pointer && supported(t) {
		target := variable(t.Elem())
		*(*unsafe.Pointer)(p) = target
		d.decode(path, t.Elem(), target)
		return
	}
	v := d.next()
	switch {
	case kind == reflect.String && v.kind == str:
		*(*string)(p) = v.text
	case kind == reflect.Bool && v.kind == boolean:
		*(*bool)(p) = v.text == "true"
	case kind == reflect.Float64 && v.kind == number:
		d.float(path, v.text, (*float64)(p))
	case reflect.Int <= kind && kind <= reflect.Uint64 && v.kind == number && !v.float:
		d.integer(path, t, v.text, p)
	case kind == reflect.Struct && v.kind == object:
		d.table(path, t, p)
	case !supported(t):
		d.unsupported(path, t)
		d.skip(v)
	case kind == reflect.Slice && v.kind == array:
		d.list(path, t, p)
	case kind == reflect.Map && v.kind == object:
		d.entries(path, t, p)
	default:
		d.mismatch(path, t, v.name())
		d.skip(v)
	}
}

func (d *decoder) unsupported(path string, t reflect.Type) {
	d.add("setting " + path + ": the plugin wants it as " + t.String() + ", which settings.Decode cannot make")
}

// table decodes an object into a struct.
func (d *decoder) table(path string, t reflect.Type, p unsafe.Pointer) {
	for name, ok := d.member(true); ok; name, ok = d.member(false) {
		below := join(path, name)
		f, found := field(t, name)
		if !found {
			d.unknown(path, name, names(t))
			d.skip(d.next())
			continue
		}
		d.decode(below, f.Type, unsafe.Add(p, f.Offset))
	}
}
