package settings

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Decode reads the whole table of settings into *into.
//
// A setting goes into the exported field of its name: the name in the field's
// tag `setting:"…"`, or the field's own in lower case with an underscore
// before each further word (MaxAge is max_age). A field whose tag is "-" takes
// none. Fields are strings, bools, integers of all sizes, float64, structs
// (tables), pointers to strings, bools, int64 and float64 (nil where the
// setting is missing), slices of all these but pointers, also of slices, and
// maps by string of strings, int64, or slices of strings. What is none of these
// is read with JSON. A field whose setting is missing stays as
// it is, a list or table that is there is taken whole.
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

// JSON is the whole table of settings as JSON, for what Decode cannot make. It
// is empty if there are no settings.
func JSON() ([]byte, error) {
	table, err := guest.Settings()
	return []byte(table), err
}

// decoder goes through the JSON text of the table, and through the struct
// beside it.
type decoder struct {
	parser
	faults
}

// mismatch says that a setting is not what it must be.
func (d *decoder) mismatch(path string, t reflect.Type, found string) {
	d.add("setting " + path + " must be " + wanted(t) + ", but it is " + found)
}

// decode reads the value that comes next into the variable of type t at p.
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

// table reads an object into a struct.
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
