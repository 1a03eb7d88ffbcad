package wasm

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// binarySuffixes are those of 1024 and its powers.
var binarySuffixes = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// What a quantity costs beside the fuel of a value, in units of fuel: one that is a
// whole number that an int64 has room for, and any other, which may have any number of
// digits. It is no part of the fuel, which records have: decisions on record come out
// the same.
const (
	wholeExtra = 100
	otherExtra = 2000
)

func quantityExtra(q *resource.Quantity) int64 {
	if _, whole := q.AsInt64(); whole {
		return wholeExtra
	}
	return otherExtra
}

// amount is a quantity in canonical form. q is only read: pods are shared, and
// a quantity's own String remembers its result.
func (r *record) amount(q *resource.Quantity) {
	r.quantity = *q
	begin := r.open(typeString)
	n, whole := r.quantity.AsInt64()
	r.extra += quantityExtra(q)
	if whole && q.Format == resource.BinarySI && n >= 1024 {
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
