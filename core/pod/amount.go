package pod

import (
	"math"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MostOf is what more of a resource than can be counted counts for.
const MostOf = math.MaxInt64

// Amount is how much of a resource a quantity is, rounded up: of cpu in
// thousandths, of memory and storage in bytes, of all others whole. It is not
// below zero, and MostOf for whatever is more: the quantity's own figures begin
// anew at zero there.
func Amount(name v1.ResourceName, q *resource.Quantity) int64 {
	scale := resource.Scale(0)
	if name == v1.ResourceCPU {
		scale = resource.Milli
	}
	switch {
	case q.Sign() <= 0:
		return 0
	case q.Cmp(*resource.NewScaledQuantity(MostOf, scale)) >= 0:
		return MostOf
	}
	return q.ScaledValue(scale)
}
