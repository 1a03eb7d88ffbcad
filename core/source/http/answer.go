package http

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// answer is the answer of a server.
type answer struct {
	// unchanged: the last delivery is still valid; there is no body.
	unchanged bool
	body      []byte
	// validators are the validators for the next request.
	validators validators
}

// reading is a decoded answer.
type reading struct {
	docs []api.Document
	// whole: docs are all documents; others are removed.
	whole bool
}

// faults are the bad documents of a reading.
type faults struct {
	count int
	first error
}

// read decodes an answer. It fails if the answer does not say which pods there should be.
func read(a answer, from manifest.DecodeFrom) (reading, error) {
	refuse := func(err error) (reading, error) { return reading{}, fmt.Errorf("%s: %w", from.File, err) }
	if manifest.Silent(a.body) {
		return refuse(errors.New("the answer is empty, which ends nothing; for no pods answer with an empty PodList"))
	}
	if isPage(a.body) {
		return refuse(errors.New("the answer is a web page and no manifest; " +
			"is there a proxy or a login page (captive portal) on the way to the server?"))
	}
	r := reading{docs: manifest.Decode(a.body, from)}
	usable := false
	for i := range r.docs {
		usable = usable || r.docs[i].Pod != nil
	}
	switch held := r.held(); {
	case held && !usable:
		return reading{}, fmt.Errorf("%w; the answer is no Pod, PodList or List of Pods", r.docs[0].Err)
	case !held && !usable && len(r.docs) > 0:
		r.docs = append(r.docs, manifest.HoldFile(from, 0, errors.New(
			"no document of the answer can be used; the pods of the last one go on until that is mended")))
	case !held:
		r.whole = true
	}
	return r, nil
}

// held reports whether it is uncertain which pods the answer holds.
func (r *reading) held() bool {
	n := len(r.docs)
	return n > 0 && r.docs[n-1].Holds()
}

func (r *reading) faults() faults {
	var f faults
	for i := range r.docs {
		d := &r.docs[i]
		if d.Err == nil || d.Holds() {
			continue
		}
		f.count++
		if f.first == nil {
			f.first = d.Err
		}
	}
	return f
}

// isPage reports whether a body is HTML or XML. No manifest begins with "<".
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(body, bom), " \t\r\n"), []byte("<"))
}

// bom is the byte order mark of UTF-8.
var bom = []byte("\ufeff")
