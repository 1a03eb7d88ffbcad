package wasm

import (
	"reflect"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What a value costs that is written as JSON, beside the fuel of its bytes, in units of
// fuel: jsonExtra each value, and jsonFieldExtra each field of its type, also those that
// are left out.
const (
	jsonExtra      = 200
	jsonFieldExtra = 8
)

// jsonCost is what values of a type cost that are written as JSON, beside their fuel.
type jsonCost struct {
	fixed int64
	// quantities returns what the quantities in the value at an address cost, nil where
	// there are none in values of the type.
	quantities func(at unsafe.Pointer) int64
}

// jsonCosts has the *jsonCost of each type that was asked for: there are as many as the
// API has.
var jsonCosts sync.Map

func jsonCostOf(t reflect.Type) *jsonCost {
	if c, ok := jsonCosts.Load(t); ok {
		return c.(*jsonCost) // nothing else is stored
	}
	c := &jsonCost{jsonExtra + int64(jsonFields(t))*jsonFieldExtra, quantitiesIn(t)}
	jsonCosts.Store(t, c)
	return c
}

// of returns what the value at an address costs.
func (c *jsonCost) of(at unsafe.Pointer) int64 {
	if c.quantities == nil {
		return c.fixed
	}
	return c.fixed + c.quantities(at)
}

// jsonFields is how many fields a type has, with those of what is inlined in it.
func jsonFields(t reflect.Type) (n int) {
	if t.Kind() != reflect.Struct {
		return 0
	}
	for f := range t.Fields() {
		if f.Anonymous {
			n += jsonFields(f.Type)
		} else {
			n++
		}
	}
	return n
}

// quantitiesIn returns a function that adds up what the quantities in a value of a type
// cost, nil where it has none.
func quantitiesIn(t reflect.Type) func(at unsafe.Pointer) int64 {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return func(at unsafe.Pointer) int64 { return quantityExtra((*resource.Quantity)(at)) }
	case reflect.TypeFor[v1.ResourceList](): // no other map of a pod has quantities
		return func(at unsafe.Pointer) (sum int64) {
			for _, q := range *(*v1.ResourceList)(at) {
				sum += quantityExtra(&q)
			}
			return sum
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if inner := jsonCostOf(t.Elem()).quantities; inner != nil {
			return func(at unsafe.Pointer) int64 {
				if to := *(*unsafe.Pointer)(at); to != nil {
					return inner(to)
				}
				return 0
			}
		}
	case reflect.Slice:
		if inner := jsonCostOf(t.Elem()).quantities; inner != nil {
			size := t.Elem().Size()
			return func(at unsafe.Pointer) (sum int64) {
				first, n := elements(at)
				for i := range n {
					sum += inner(unsafe.Add(first, uintptr(i)*size))
				}
				return sum
			}
		}
	case reflect.Struct:
		return quantitiesOfFields(t)
	}
	return nil
}

func quantitiesOfFields(t reflect.Type) func(at unsafe.Pointer) int64 {
	type part struct {
		offset uintptr
		sum    func(at unsafe.Pointer) int64
	}
	var parts []part
	for f := range t.Fields() {
		if inner := jsonCostOf(f.Type).quantities; f.IsExported() && inner != nil {
			parts = append(parts, part{f.Offset, inner})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return func(at unsafe.Pointer) (sum int64) {
		for _, p := range parts {
			sum += p.sum(unsafe.Add(at, p.offset))
		}
		return sum
	}
}
