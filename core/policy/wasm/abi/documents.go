package abi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// These are the numbers of the documents that a plugin can get as JSON. The object
// of a candidate has the number documentCandidates plus its index in the list.
const (
	documentRequest    = 0
	documentObject     = 1
	documentOldObject  = 2
	documentNode       = 3
	documentChoice     = 4 // only for the seed: the candidates without their objects
	documentCandidates = 16
)

// Documents holds the documents of a question that were already encoded as JSON.
type Documents struct {
	text []byte
	made []document
	// Encoded is how many bytes of JSON were made in this call. extra is what they
	// cost in addition to their fuel.
	Encoded int
	Extra   int64
}

// document is the range of one document in Documents.text.
type document struct {
	number     uint32
	begin, end int
}

// Reset drops the documents, and drops the buffer if it is larger than most bytes.
func (d *Documents) Reset(most int) {
	d.text, d.made, d.Encoded, d.Extra = d.text[:0], d.made[:0], 0, 0
	if cap(d.text) > most {
		d.text = nil
	}
}

// Of returns a document of a question. Each document is encoded only once.
func (d *Documents) Of(q *Query, number uint32) (text []byte, ok bool) {
	for _, m := range d.made {
		if m.number == number {
			return d.text[m.begin:m.end], true
		}
	}
	value, text, err := q.document(number)
	if value == nil {
		return nil, false
	}
	if err != nil {
		Stop(Failf(HostError, "write document %d as JSON: %w", number, err))
	}
	d.Encoded += len(text)
	d.Extra += jsonCostOf(reflect.TypeOf(value).Elem()).of(reflect.ValueOf(value).UnsafePointer())
	m := document{number: number, begin: len(d.text)}
	d.text = append(d.text, text...)
	m.end = len(d.text)
	d.made = append(d.made, m)
	return d.text[m.begin:m.end], true
}

// document returns a pointer to the document with a number, and its JSON; nil if
// the question has no such document.
func (q *Query) document(number uint32) (value any, text []byte, err error) {
	var of *v1.Pod
	switch number {
	case documentRequest:
		value = &q.request
	case documentObject:
		of = q.object
	case documentOldObject:
		of = q.old
	case documentNode:
		if q.nodeKnown {
			value = &q.node
		}
	default:
		if number >= documentCandidates && uint64(number-documentCandidates) < uint64(len(q.candidates)) {
			of = q.candidates[number-documentCandidates].Object
		}
	}
	switch {
	case of != nil:
		text, err = q.texts.Whole(of)
		return pod.WholeOf(of), text, err
	case value != nil:
		text, err = json.Marshal(value)
	}
	return value, text, err
}

// Seed returns the seed of a hook's random numbers. It is made of the plugin's own
// seed and everything that the plugin may know of the question. After each
// document, seed calls charge with how many bytes of JSON were made for it, and
// what they cost in addition to their fuel.
func (d *Documents) Seed(own [sha256.Size]byte, q *Query, charge func(encoded int, extra int64)) (seed [sha256.Size]byte) {
	encoded, extra := d.Encoded, d.Extra
	sum := sha256.New()
	sum.Write(own[:])
	add := func(number uint32, text []byte) {
		var head [8]byte
		binary.LittleEndian.PutUint32(head[:], number)
		binary.LittleEndian.PutUint32(head[4:], uint32(len(text)))
		sum.Write(head[:])
		sum.Write(text)
		charge(d.Encoded-encoded, d.Extra-extra)
		encoded, extra = d.Encoded, d.Extra
	}
	for _, number := range [...]uint32{documentRequest, documentObject, documentOldObject, documentNode} {
		if text, ok := d.Of(q, number); ok {
			add(number, text)
		}
	}
	if len(q.candidates) > 0 {
		choice, err := json.Marshal(q.candidates)
		if err != nil {
			Stop(Failf(HostError, "write the candidates as JSON: %w", err))
		}
		d.Encoded += len(choice)
		add(documentChoice, choice)
	}
	for i := range q.candidates {
		number := documentCandidates + uint32(i)
		if text, ok := d.Of(q, number); ok {
			add(number, text)
		}
	}
	sum.Sum(seed[:0])
	return seed
}
