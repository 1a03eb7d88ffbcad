package wasm

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// binarySuffixes are those of 1024 and its powers.
var binarySuffixes = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// amount is a quantity in canonical form. q is only read: pods are shared, and
// a quantity's own String remembers its result.
func (r *record) amount(q *resource.Quantity) {
	r.quantity = *q
	begin := r.open(typeString)
	if n, ok := r.quantity.AsInt64(); ok && q.Format == resource.BinarySI && n >= 1024 {
		power := 0 // as CanonicalizeBytes does, which makes garbage of the suffix
		for ; n%1024 == 0; n /= 1024 {
			power++
		}
		r.out = append(strconv.AppendInt(r.out, n, 10), binarySuffixes[power]...)
	} else {
		if r.number == nil {
			r.number = make([]byte, 0, 64)
		}
		number, suffix := r.quantity.CanonicalizeBytes(r.number[:0])
		r.out = append(append(r.out, number...), suffix...)
	}
	r.end(begin)
}
