package pod

import (
	"math"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MostOf is the amount of a quantity that is too large to be represented.
const MostOf = math.MaxInt64

// Amount returns a quantity of a resource as an integer, rounded up: cpu in thousandths, memory and
// storage in bytes, all others in whole units. It is never negative. It is MostOf for larger
// quantities, whose own methods would overflow.
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
