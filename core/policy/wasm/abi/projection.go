package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// MaxPaths is the most paths that a plugin may declare.
const MaxPaths = 64

// Projection is the part of a question that a plugin declared. The handle of a
// field is its index in the list.
type Projection struct {
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

// Declare adds a path. may are the capabilities of the policy, which bound the
// paths that are allowed.
func (p *Projection) Declare(text string, lazy bool, may CapabilitySet) error {
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

// MaxRecord is the longest record that is written for a guest, even if its input
// area is larger.
const MaxRecord = 1 << 20

// Write makes the record of a question: u16 count, then for every path u16 handle
// and its value. If the record is longer than most or MaxRecord bytes, Write stops
// early and the record is not valid.
func (p *Projection) Write(r *Record, q *Query, most int) {
	r.begin()
	r.most = max(1, min(most, MaxRecord))
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

// WriteField makes a record of the value of one field, and reports whether the
// handle is that of a field. most is how much fuel the record may cost, 0 if there
// is no limit.
func (p *Projection) WriteField(r *Record, q *Query, handle uint32, most int64) bool {
	r.begin()
	r.affordable = most
	if uint64(handle) >= uint64(len(p.fields)) {
		return false
	}
	p.fields[handle].write(r, q)
	return true
}

// Len returns the number of declared paths.
func (p *Projection) Len() int { return len(p.fields) }

// InRecord returns how many of the declared paths are part of the record.
func (p *Projection) InRecord() int { return p.recorded }

// write appends the field's value.
func (f *field) write(r *Record, q *Query) {
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
func (q *Query) at(r root) unsafe.Pointer {
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
func compilePath(all []segment, may CapabilitySet) (f field, err error) {
	rest := all[1:]
	switch all[0].name {
	case "object":
		f.root = rootObject
		f.program, err = compilePod(reflect.TypeFor[v1.Pod](), rest)
	case "oldObject":
		f.root = rootOldObject
		f.program, err = compilePod(reflect.TypeFor[v1.Pod](), rest)
	case "request":
		if len(rest) > 0 && rest[0].name == "references" && !may.References {
			return field{}, fmt.Errorf("request.references needs the capability %q: add it to the policy's capabilities", CapabilityReferencesRead)
		}
		f.root = rootRequest
		f.program, err = compileBelow(reflect.TypeFor[request](), rest)
	case "node":
		if !may.Node {
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

// The capabilities of policies.
const (
	// CapabilityNodeRead lets a plugin see the facts about the node.
	CapabilityNodeRead = "node.read"
	// CapabilityReferencesRead lets a plugin see what is known of the ConfigMaps
	// and Secrets that a pod names. Their values are never shown.
	CapabilityReferencesRead = "references.read"
)

// Capabilities lists all capabilities.
var Capabilities = []string{CapabilityNodeRead, CapabilityReferencesRead}

// CapabilitySet are the capabilities of one policy.
type CapabilitySet struct{ Node, References bool }

// ReadCapabilities reads a policy's capabilities.
func ReadCapabilities(names []string) (c CapabilitySet, err error) {
	for _, name := range names {
		switch name {
		case CapabilityNodeRead:
			c.Node = true
		case CapabilityReferencesRead:
			c.References = true
		default:
			return CapabilitySet{}, fmt.Errorf("the capability %q is not supported in this version: there are %q", name, Capabilities)
		}
	}
	return c, nil
}
