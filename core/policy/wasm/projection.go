package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// maxPaths is how many paths a plugin may declare.
const maxPaths = 64

// projection is the part of a question that a plugin declared it wants. The
// handle of a path is its place in the list.
type projection []func(r *record, q *Request, node string)

// declare adds a path. The error says what is wrong with it.
func (p *projection) declare(text string) error {
	all, err := parsePath(text)
	if err != nil {
		return err
	}
	root, rest := all[0].name, all[1:]
	if len(rest) == 0 || rest[0].kind != segmentField {
		return errors.New("a field must follow the root: object.spec, request.operation")
	}
	switch root {
	case "object", "oldObject":
		write, err := compilePod(rest, root == "oldObject")
		if err != nil {
			return err
		}
		*p = append(*p, write)
	case "request":
		write, ok := requestFields[rest[0].name]
		if !ok || len(rest) > 1 {
			return fmt.Errorf("request has no field %q", strings.TrimPrefix(text, "request."))
		}
		*p = append(*p, write)
	default:
		return fmt.Errorf("unknown root %q: it must be object, oldObject or request", root)
	}
	return nil
}

func compilePod(path []segment, old bool) (func(r *record, q *Request, node string), error) {
	if path[0].name == "status" {
		return nil, errors.New("the status of a pod is not judged: it is no part of the object")
	}
	pod, err := compile(reflect.TypeFor[v1.Pod](), path, false)
	return func(r *record, q *Request, _ string) {
		object := q.Question.Pod
		if old {
			object = q.Question.Old
		}
		if object == nil {
			r.missing()
		} else {
			pod.write(r, reflect.ValueOf(object).Elem())
		}
	}, err
}

var requestFields = map[string]func(r *record, q *Request, node string){
	"operation": func(r *record, q *Request, _ string) { r.text(string(q.Question.Op)) },
	"source":    func(r *record, q *Request, _ string) { r.text(q.Question.Origin.Source) },
	"document":  func(r *record, q *Request, _ string) { r.text(q.Question.Origin.Document) },
	"replaces": func(r *record, q *Request, _ string) {
		if q.Question.Replaces == "" {
			r.missing()
		} else {
			r.text(string(q.Question.Replaces))
		}
	},
	"node": func(r *record, _ *Request, node string) { r.text(node) },
	"time": func(r *record, q *Request, _ string) { r.integer(q.Time.UnixMilli()) },
}

// write appends the record of a question to out: u16 count, then for every
// path u16 handle and its value.
func (p projection) write(out []byte, q *Request, node string) ([]byte, error) {
	r := record{out: binary.LittleEndian.AppendUint16(out, uint16(len(p)))}
	for handle, write := range p {
		r.out = binary.LittleEndian.AppendUint16(r.out, uint16(handle))
		write(&r, q, node)
	}
	return r.out, r.err
}
