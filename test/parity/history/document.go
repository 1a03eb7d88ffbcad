package history

import (
	"errors"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// The sources of every history, by the names that a kubelet uses.
const (
	file      = "file"
	http      = "http"
	apiSource = pod.SourceAPI
)

var sources = []string{file, http, apiSource}

// document is one entry of a source.
type document struct {
	id, version string
	// raw is the pod as a kubelet's source returns it, nil if the document cannot be read. given is
	// the pod as Wardlet's source returns it, with the annotation that names the source.
	raw, given *v1.Pod
}

func newDocument(source, id, version string, raw *v1.Pod) document {
	d := document{id: id, version: version, raw: raw}
	if raw != nil {
		d.given = raw.DeepCopy()
		if d.given.Annotations == nil {
			d.given.Annotations = map[string]string{}
		}
		d.given.Annotations[pod.AnnotationSource] = source
	}
	return d
}

// forMux returns the document in the form that the mux accepts.
func (d *document) forMux(source string) api.Document {
	out := api.Document{Source: source, ID: d.id, Version: d.version, Pod: d.given}
	if d.given == nil {
		out.Err = &api.DocumentError{File: d.id, Line: 3, Err: errors.New("found a tab where a key was expected")}
	}
	return out
}

// step is one delivery: the full content of a source.
type step struct {
	// restart stops both agents and starts them again before the delivery.
	restart   bool
	source    string
	documents []document
	// difference sends one of our muxes only the documents that changed since the last delivery;
	// repeat adds documents that did not change.
	difference, repeat bool
}

// history is a list of deliveries.
type history struct {
	seed  uint64
	steps []step
	// edited counts how often each field was edited, by path.
	edited map[string]int
}
