package settings

import (
	"reflect"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// slice is the layout of a slice in memory.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// none is the variable that empty slices point to.
var none struct{}

// list decodes an array into a slice.
func (d *decoder) list(path string, t reflect.Type, p unsafe.Pointer) {
	n := d.count()
	of := t.Elem()
	data := unsafe.Pointer(&none)
	if n > 0 {
		data = unsafe.Pointer(reflect.MakeSlice(t, n, n).Index(0).UnsafeAddr())
	}
	for i := range n {
		d.element(i == 0)
		d.decode(path+"["+guest.Itoa(i)+"]", of, unsafe.Add(data, uintptr(i)*of.Size()))
	}
	d.element(n == 0)
	*(*slice)(p) = slice{data, n, n}
}

// count returns the number of elements of the array whose bracket was read last.
func (d *decoder) count() (n int) {
	ahead := d.parser
	for more := ahead.element(true); more; more = ahead.element(false) {
		ahead.skip(ahead.next())
		n++
	}
	return n
}

// entries decodes an object into a map. Maps whose types have the same kinds have the same
// layout in memory.
func (d *decoder) entries(path string, t reflect.Type, p unsafe.Pointer) {
	switch of := t.Elem(); of.Kind() {
	case reflect.String:
		collect[string](d, path, of, p)
	case reflect.Int64:
		collect[int64](d, path, of, p)
	default:
		collect[[]string](d, path, of, p)
	}
}

func collect[T any](d *decoder, path string, of reflect.Type, p unsafe.Pointer) {
	m := map[string]T{}
	for name, ok := d.member(true); ok; name, ok = d.member(false) {
		var one T
		d.decode(join(path, name), of, unsafe.Pointer(&one))
		m[name] = one
	}
	*(*map[string]T)(p) = m
}
