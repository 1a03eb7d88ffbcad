package abi

import (
	"reflect"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// These are the costs of a value that is written as JSON, in addition to the fuel
// of its bytes, in units of fuel: jsonExtra for each value, and jsonFieldExtra for
// each field of its type, even if JSON omits the field.
const (
	jsonExtra      = 200
	jsonFieldExtra = 8
)

// jsonCost is what writing values of one type as JSON costs in addition to their
// fuel.
type jsonCost struct {
	fixed int64
	// quantities returns the cost of the quantities in the value at an address; nil
	// if values of the type have none.
	quantities func(at unsafe.Pointer) int64
}

// jsonCosts holds the *jsonCost of each type that was asked for. The types of the
// API bound their number.
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

// jsonFields returns how many fields a type has, including those of inlined
// structs.
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

// quantitiesIn returns a function that adds up the costs of the quantities in a
// value of type t, nil if the type has none.
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
