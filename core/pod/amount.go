package pod

import (
	"math"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
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

// Limit returns the limit of all containers of a pod together, in the units of Amount. It is 0, which
// means no limit, if a container has none: the limits of the others would restrict it. The limit of
// the whole pod, if it has one, counts whatever its containers have.
func Limit(p *v1.Pod, name v1.ResourceName) int64 {
	declared := true
	limits := helper.PodLimits(p, helper.PodResourcesOptions{
		ContainerFn: func(container v1.ResourceList, _ helper.ContainerType) {
			declared = declared && !container.Name(name, resource.DecimalSI).IsZero()
		},
	})
	if r := p.Spec.Resources; r != nil {
		declared = declared || !r.Limits.Name(name, resource.DecimalSI).IsZero()
	}
	if !declared {
		return 0
	}
	return Amount(name, limits.Name(name, resource.DecimalSI))
}

// IsHugePages reports whether a resource is huge pages of one size, such as hugepages-2Mi.
func IsHugePages(name v1.ResourceName) bool {
	return strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix)
}

// PageSize returns the size in bytes that the name of a resource of huge pages has. It returns 0 for
// any other name.
func PageSize(name v1.ResourceName) int64 {
	size, ok := strings.CutPrefix(string(name), v1.ResourceHugePagesPrefix)
	// A number with a long exponent takes minutes to convert.
	if exponent := strings.IndexAny(size, "eE"); !ok || len(size) > maxPageSize || exponent >= 0 && len(size)-exponent > 4 {
		return 0
	}
	q, err := resource.ParseQuantity(size)
	if err != nil || q.MilliValue()%1000 != 0 {
		return 0
	}
	return max(q.Value(), 0)
}

// PageSizeName returns a size of huge pages in bytes as the kernel's cgroups and CRI name it, such as
// 2MB.
func PageSizeName(size int64) string {
	unit := 0
	for size >= 1024 && unit < len(pageUnits)-1 {
		size, unit = size/1024, unit+1
	}
	return strconv.FormatInt(size, 10) + pageUnits[unit]
}

var pageUnits = []string{"B", "KB", "MB", "GB", "TB", "PB"}

// maxPageSize is the length of the longest size in the name of a resource of huge pages.
const maxPageSize = 20
