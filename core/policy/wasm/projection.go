package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// maxPaths is how many fields a plugin may declare.
const maxPaths = 64

// projection is the part of a question that a plugin declared it wants. The
// handle of a field is its place in the list.
type projection struct {
	fields []field
	// recorded is how many of them stand in the record; the others are only
	// fetched.
	recorded int
	// handed are the paths of those, as far as a call goes without fetching more.
	handed []string
}

// field is one declared path.
type field struct {
	root    root
	program program
	// lazy: it is no part of the record.
	lazy bool
	// path is how it was declared.
	path string
}

// declare adds a path, of what a policy may see with its capabilities.
// The error says what is wrong with it.
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

// maxRecord is the longest record that is handed to a guest, whatever its input
// area has room for.
const maxRecord = 1 << 20

// write makes the record of a question: u16 count, then for every path u16
// handle and its value. It is wrong where it has more than most bytes, or than
// maxRecord.
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

// root is what a path begins with.
type root uint8

const (
	rootObject root = iota
	rootOldObject
	rootRequest
	rootNode
	rootCandidates
)

// at is where a root's value lies, nil where the question has none.
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

// compilePath makes a field of a path's steps.
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
		f.program, err = compileBelow(reflect.TypeFor[seenRequest](), rest)
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

// compileBelow makes the program of a field of what a path begins with.
func compileBelow(t reflect.Type, rest []segment) (program, error) {
	if len(rest) == 0 || rest[0].kind != segmentField {
		return program{}, errNoField
	}
	return compileType(t, rest, false)
}

// compilePod makes the program of a field of a pod, or of a pointer to one.
func compilePod(t reflect.Type, rest []segment) (program, error) {
	if len(rest) > 0 && rest[0].name == "status" {
		return program{}, errors.New("the status of a pod is not judged: it is no part of the object")
	}
	return compileBelow(t, rest)
}
