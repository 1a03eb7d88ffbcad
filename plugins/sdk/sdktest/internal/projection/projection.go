package projection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// ErrTooMany is a path beyond the greatest number a plugin may declare.
var ErrTooMany = fmt.Errorf("more than %d paths", record.MaxFields)

// Question is what a plugin is asked. The pods are checked (see
// shape.Check), nil where there is none.
type Question struct {
	Object, OldObject                           any
	Operation, Source, Document, Replaces, Node string
	// Time is in milliseconds since 1970.
	Time int64
}

// Projection is the fields a plugin declared. The handle of a path is its
// place in the list.
type Projection []func(w *record.Writer, q *Question) error

// Declare adds a path. The error says what is wrong with it.
func (p *Projection) Declare(text string) error {
	if len(*p) == record.MaxFields {
		return ErrTooMany
	}
	path, err := ParsePath(text)
	if err != nil {
		return err
	}
	if len(path) < 2 || path[1].kind != segmentField {
		return errors.New("a field must follow the root: object.spec, request.operation")
	}
	root, rest := path[0].name, path[1:]
	switch root {
	case "object":
		return p.add(rest, func(q *Question) any { return q.Object })
	case "oldObject":
		return p.add(rest, func(q *Question) any { return q.OldObject })
	case "request":
		write, ok := requestFields[rest[0].name]
		if !ok || len(rest) > 1 {
			return fmt.Errorf("request has no field %q", strings.TrimPrefix(text, "request."))
		}
		*p = append(*p, write)
		return nil
	}
	return fmt.Errorf("unknown root %q: it must be object, oldObject or request", root)
}

func (p *Projection) add(path []Segment, object func(q *Question) any) error {
	if path[0].name == "status" {
		return errors.New("the status of a pod is not judged: it is no part of the object")
	}
	pod, err := shape.Named("Pod")
	if err != nil {
		return err
	}
	s, err := follow(pod, path, false)
	if err != nil {
		return err
	}
	*p = append(*p, func(w *record.Writer, q *Question) error {
		value := object(q)
		if value == nil {
			w.Missing()
			return nil
		}
		return s.write(w, value)
	})
	return nil
}

var requestFields = map[string]func(w *record.Writer, q *Question) error{
	"operation": text(func(q *Question) string { return q.Operation }),
	"source":    text(func(q *Question) string { return q.Source }),
	"document":  text(func(q *Question) string { return q.Document }),
	"node":      text(func(q *Question) string { return q.Node }),
	"replaces": func(w *record.Writer, q *Question) error {
		if q.Replaces == "" {
			w.Missing()
		} else {
			w.String(q.Replaces)
		}
		return nil
	},
	"time": func(w *record.Writer, q *Question) error {
		w.Int(q.Time)
		return nil
	},
}

func text(of func(q *Question) string) func(w *record.Writer, q *Question) error {
	return func(w *record.Writer, q *Question) error {
		w.String(of(q))
		return nil
	}
}

// Record is the record of a question.
func (p Projection) Record(q *Question) ([]byte, error) {
	var w record.Writer
	w.Begin(len(p))
	for handle, write := range p {
		w.Field(handle)
		if err := write(&w, q); err != nil {
			return nil, err
		}
	}
	return w.Out, nil
}
