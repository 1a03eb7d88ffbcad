package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// maxPaths is the most paths that a plugin may declare.
const maxPaths = 64

// projection is the part of a question that a plugin declared. The handle of a
// field is its index in the list.
type projection struct {
	fields []field
	// recorded is how many of the fields are in the record. The others are fetched
	// with get.
	recorded int
	// handed are the paths of the recorded fields: what a call reads if it fetches
	// nothing.
	handed []string
}

// field is one declared path.
type field struct {
	root    root
	program program
	// lazy: the field is not part of the record.
	lazy bool
	// path is the declared path.
	path string
}

// declare adds a path. may are the capabilities of the policy, which bound the
// paths that are allowed.
func (p *projection) declare(text string, lazy bool, may capabilities) error {
	all, err := parsePath(text)
	if err != nil {
		return err
	}
	f, err := compilePath(all, may)
	if err != nil {
		return err
	}
	f.lazy, f.path = lazy, text
	p.fields = append(p.fields, f)
	if !lazy {
		p.recorded++
		p.handed = append(p.handed, text)
	}
	return nil
}

// maxRecord is the longest record that is written for a guest, even if its input
// area is larger.
const maxRecord = 1 << 20

// write makes the record of a question: u16 count, then for every path u16 handle
// and its value. If the record is longer than most or maxRecord bytes, write stops
// early and the record is not valid.
func (p *projection) write(r *record, q *query, most int) {
	r.begin()
	r.most = max(1, min(most, maxRecord))
	binary.LittleEndian.PutUint16(r.room(2), uint16(p.recorded))
	for handle := range p.fields {
		if f := &p.fields[handle]; !f.lazy {
			binary.LittleEndian.PutUint16(r.room(2), uint16(handle))
			f.write(r, q)
			if r.full() {
				return
			}
		}
	}
}

// write appends the field's value.
func (f *field) write(r *record, q *query) {
	if at := q.at(f.root); at != nil {
		f.program.run(r, at)
	} else {
		r.missing()
	}
}

// root is the value at which a path begins.
type root uint8

const (
	rootObject root = iota
	rootOldObject
	rootRequest
	rootNode
	rootCandidates
)

// at returns the address of a root's value, nil if the question has none.
func (q *query) at(r root) unsafe.Pointer {
	switch r {
	case rootObject:
		return unsafe.Pointer(q.object)
	case rootOldObject:
		return unsafe.Pointer(q.old)
	case rootRequest:
		return unsafe.Pointer(&q.request)
	case rootCandidates:
		return unsafe.Pointer(&q.candidates)
	case rootNode:
		if q.nodeKnown {
			return unsafe.Pointer(&q.node)
		}
	}
	return nil
}

// compilePath makes a field from the segments of a path.
func compilePath(all []segment, may capabilities) (f field, err error) {
	rest := all[1:]
	switch all[0].name {
	case "object":
		f.root = rootObject
		f.program, err = compilePod(reflect.TypeFor[v1.Pod](), rest)
	case "oldObject":
		f.root = rootOldObject
		f.program, err = compilePod(reflect.TypeFor[v1.Pod](), rest)
	case "request":
		if len(rest) > 0 && rest[0].name == "references" && !may.references {
			return field{}, fmt.Errorf("request.references needs the capability %q: add it to the policy's capabilities", CapabilityReferencesRead)
		}
		f.root = rootRequest
		f.program, err = compileBelow(reflect.TypeFor[request](), rest)
	case "node":
		if !may.node {
			return field{}, fmt.Errorf("node needs the capability %q: add it to the policy's capabilities", CapabilityNodeRead)
		}
		f.root = rootNode
		f.program, err = compileBelow(reflect.TypeFor[node](), rest)
	case "candidates":
		f.root = rootCandidates
		f.program, err = compileCandidates(rest)
	default:
		err = fmt.Errorf("unknown root %q: it must be object, oldObject, request, node or candidates", all[0].name)
	}
	return f, err
}

var errNoField = errors.New("a field must follow the root: object.spec, request.operation, candidates[*].source")

// compileBelow makes the program of the rest of a path after its root.
func compileBelow(t reflect.Type, rest []segment) (program, error) {
	if len(rest) == 0 || rest[0].kind != segmentField {
		return program{}, errNoField
	}
	return compileType(t, rest, false)
}

// compilePod makes the program of the rest of a path after a pod. t is the type of
// a pod or of a pointer to one.
func compilePod(t reflect.Type, rest []segment) (program, error) {
	if len(rest) > 0 && rest[0].name == "status" {
		return program{}, errors.New("the status of a pod is not judged: it is no part of the object")
	}
	return compileBelow(t, rest)
}
