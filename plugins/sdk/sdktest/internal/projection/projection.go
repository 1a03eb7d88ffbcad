package projection

import (
	"fmt"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// ErrTooMany is the error if a plugin declares more paths than it may.
var ErrTooMany = fmt.Errorf("more than %d paths", record.MaxFields)

// Projection has the fields that a plugin declared. The handle of a path is its index in
// the list.
type Projection struct {
	// NodeRead: facts about the node may be declared. ReferencesRead: the objects that the
	// pod names may be declared.
	NodeRead, ReferencesRead bool

	fields []field
}

type field struct {
	lazy  bool
	write func(w *record.Writer, q *Question) error
}

// Declare adds a path and returns its handle. A lazy path is not part of the record. The
// error says what is wrong with the path.
func (p *Projection) Declare(text string, lazy bool) (handle int, err error) {
	if len(p.fields) == record.MaxFields {
		return 0, ErrTooMany
	}
	path, err := ParsePath(text)
	if err != nil {
		return 0, err
	}
	from, of, rest, err := p.root(path)
	if err != nil {
		return 0, err
	}
	s, err := follow(of, rest, false)
	if err != nil {
		return 0, err
	}
	p.fields = append(p.fields, field{lazy, func(w *record.Writer, q *Question) error {
		value := from(q)
		if value == nil {
			w.Missing()
			return nil
		}
		return s.write(w, value)
	}})
	return len(p.fields) - 1, nil
}

// Record returns the record of a question.
func (p *Projection) Record(q *Question) ([]byte, error) {
	n := 0
	for _, f := range p.fields {
		if !f.lazy {
			n++
		}
	}
	var w record.Writer
	w.Begin(n)
	for handle, f := range p.fields {
		if f.lazy {
			continue
		}
		w.Field(handle)
		if err := f.write(&w, q); err != nil {
			return nil, err
		}
	}
	return w.Out, nil
}

// Value returns the value of a declared field, and false if there is no such handle.
func (p *Projection) Value(handle int, q *Question) (value []byte, ok bool, err error) {
	if handle < 0 || handle >= len(p.fields) {
		return nil, false, nil
	}
	var w record.Writer
	err = p.fields[handle].write(&w, q)
	return w.Out, true, err
}
