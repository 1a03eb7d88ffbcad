package wasm

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// binarySuffixes are the suffixes of the powers of 1024.
var binarySuffixes = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// These are the costs of a quantity in addition to the fuel of a value, in units of
// fuel. wholeExtra is the cost of a whole number that fits into an int64.
// otherExtra is the cost of any other, which may have any number of digits. They
// are no part of the fuel, which is recorded, so that a replayed decision uses the
// same fuel.
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

// amount appends a quantity in canonical form. It copies q and does not change it:
// pods are shared, and the String method of a quantity stores its result in it.
func (r *record) amount(q *resource.Quantity) {
	r.quantity = *q
	begin := r.open(typeString)
	n, whole := r.quantity.AsInt64()
	r.extra += quantityExtra(q)
	if whole && q.Format == resource.BinarySI && n >= 1024 {
		power := 0 // as CanonicalizeBytes does, which allocates for the suffix
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
