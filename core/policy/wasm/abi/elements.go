package abi

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// containersAlias stands in paths for all containers of a pod: init, regular,
// ephemeral.
const containersAlias = "@containers"

// elements returns the address of the first element of the slice at an address, and
// the number of elements. The slice may have any type.
func elements(at unsafe.Pointer) (first unsafe.Pointer, n int) {
	list := *(*[]byte)(at) // the length counts elements, whatever their type
	return unsafe.Pointer(unsafe.SliceData(list)), len(list)
}

// compileElements makes the program of a step into a list.
func compileElements(t reflect.Type, step segment, rest []segment) (program, error) {
	if t.Kind() != reflect.Slice {
		sign := "*"
		if step.kind == segmentIndex {
			sign = strconv.Itoa(step.index)
		}
		return program{}, fmt.Errorf("%s has no elements: [%s] needs a list", describe(t), sign)
	}
	inner, err := compileType(t.Elem(), rest, false)
	return stepInto(t.Elem(), step, inner), err
}

// stepInto makes the program of [0] or [*] on a list of elements of type t. inner
// is the program of the rest of the path.
func stepInto(t reflect.Type, step segment, inner program) program {
	size := t.Size()
	if step.kind == segmentIndex {
		return program{list: inner.list, write: func(r *Record, at unsafe.Pointer) {
			if first, n := elements(at); step.index < n {
				inner.run(r, unsafe.Add(first, uintptr(step.index)*size))
			} else {
				inner.absent(r)
			}
		}}
	}
	return program{list: true, write: func(r *Record, at unsafe.Pointer) {
		first, n := elements(at)
		begin := r.list(n)
		inner.each(r, first, n, size)
		r.end(begin)
	}}
}

// each writes the value of n elements of a list, one after the other, until the
// record is full.
func (p *program) each(r *Record, first unsafe.Pointer, n int, size uintptr) {
	for i := 0; i < n && !r.full(); i++ {
		p.run(r, unsafe.Add(first, uintptr(i)*size))
	}
}

// containers is the program of the rest of a path after @containers, for each type
// of container. Init containers have the type of regular ones.
type containers struct{ regular, ephemeral program }

// compileContainers makes the program of what follows @containers.
func compileContainers(t reflect.Type, rest []segment) (program, error) {
	if t != reflect.TypeFor[v1.PodSpec]() {
		return program{}, errors.New(containersAlias + " is a name of object.spec only")
	}
	var after []segment
	if len(rest) > 0 {
		if rest[0].kind != segmentEach && rest[0].kind != segmentIndex {
			return program{}, errors.New(containersAlias + " is a list: [*] or an index must follow")
		}
		after = rest[1:]
	}
	regular, err := compileType(reflect.TypeFor[v1.Container](), after, false)
	ephemeral, err2 := compileType(reflect.TypeFor[v1.EphemeralContainer](), after, false)
	switch {
	case err != nil && err2 != nil:
		return program{}, err
	case err != nil: // a field of ephemeral containers only
		regular = program{list: ephemeral.list, write: func(r *Record, _ unsafe.Pointer) { ephemeral.absent(r) }}
	case err2 != nil:
		ephemeral = program{list: regular.list, write: func(r *Record, _ unsafe.Pointer) { regular.absent(r) }}
	}
	c := &containers{regular: regular, ephemeral: ephemeral}
	if len(rest) > 0 && rest[0].kind == segmentIndex {
		return program{list: regular.list, write: func(r *Record, at unsafe.Pointer) {
			c.one(r, (*v1.PodSpec)(at), rest[0].index)
		}}, nil
	}
	each := len(rest) > 0
	return program{list: each, write: func(r *Record, at unsafe.Pointer) {
		spec := (*v1.PodSpec)(at)
		if n := len(spec.InitContainers) + len(spec.Containers) + len(spec.EphemeralContainers); n > 0 || each {
			c.all(r, spec, n)
		} else {
			r.missing()
		}
	}}, nil
}

func (c *containers) all(r *Record, spec *v1.PodSpec, n int) {
	begin := r.list(n)
	for _, list := range [...][]v1.Container{spec.InitContainers, spec.Containers} {
		c.regular.each(r, unsafe.Pointer(unsafe.SliceData(list)), len(list), unsafe.Sizeof(v1.Container{}))
	}
	list := spec.EphemeralContainers
	c.ephemeral.each(r, unsafe.Pointer(unsafe.SliceData(list)), len(list), unsafe.Sizeof(v1.EphemeralContainer{}))
	r.end(begin)
}

func (c *containers) one(r *Record, spec *v1.PodSpec, i int) {
	inits, regulars := len(spec.InitContainers), len(spec.Containers)
	switch {
	case i < inits:
		c.regular.run(r, unsafe.Pointer(&spec.InitContainers[i]))
	case i < inits+regulars:
		c.regular.run(r, unsafe.Pointer(&spec.Containers[i-inits]))
	case i < inits+regulars+len(spec.EphemeralContainers):
		c.ephemeral.run(r, unsafe.Pointer(&spec.EphemeralContainers[i-inits-regulars]))
	default:
		c.regular.absent(r)
	}
}
