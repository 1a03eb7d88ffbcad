package abi

import (
	"errors"
	"reflect"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Candidate is a document that claims a pod.
type Candidate struct {
	Pod    *v1.Pod
	Origin api.Origin
	// Kind is the kind of the document's source: file, http or api.
	Kind string
	// Running reports whether the pod of this document runs now.
	Running bool
	// Restored reports whether the document was known before a restart and its
	// source has not confirmed it since.
	Restored bool
	// FirstSeen is when the agent first saw this pod, zero if unknown.
	FirstSeen time.Time
}

// candidate is the part of a Candidate that plugins see, by the names of
// docs/abi.md.
type candidate struct {
	Object    *v1.Pod `json:"-"` // a document of its own
	Source    string  `json:"source"`
	Kind      string  `json:"kind"`
	Document  string  `json:"document"`
	Running   bool    `json:"running"`
	Restored  bool    `json:"restored"`
	FirstSeen int64   `json:"firstSeen,omitempty"`
}

func (c *Candidate) seen() candidate {
	seen := candidate{
		Object: c.Pod, Source: c.Origin.Source, Kind: c.Kind, Document: c.Origin.Document,
		Running: c.Running, Restored: c.Restored,
	}
	if !c.FirstSeen.IsZero() {
		seen.FirstSeen = c.FirstSeen.UnixMilli()
	}
	return seen
}

// compileCandidates makes the program of a path that begins with candidates. rest
// are the segments after that.
func compileCandidates(rest []segment) (program, error) {
	if len(rest) == 0 || rest[0].kind != segmentEach && rest[0].kind != segmentIndex {
		return program{}, errors.New("candidates is a list: [*] or an index must follow")
	}
	of := reflect.TypeFor[candidate]()
	below := rest[1:]
	var (
		inner program
		err   error
	)
	if len(below) > 0 && below[0].kind == segmentField && below[0].name == "object" {
		inner, err = compilePod(reflect.TypeFor[*v1.Pod](), below[1:])
		inner.offset += unsafe.Offsetof(candidate{}.Object)
	} else {
		inner, err = compileBelow(of, below)
	}
	return stepInto(of, rest[0], inner), err
}

// MergeRequest is a question to the hook merge: which of the documents that claim
// one pod wins.
type MergeRequest struct {
	// Candidates are in an order that does not depend on time: by the rank of their
	// source, then by source and document.
	Candidates []Candidate
	// Current is the running pod, nil if none runs.
	Current *v1.Pod
	// Tenant is the tenant that the pod belongs to, empty for the operator's.
	Tenant string
	// Time is the time of the decision. The plugin sees no other clock.
	Time time.Time
	// ClockSynchronized reports whether the node's clock is known to be right.
	ClockSynchronized bool
	// Node and Texts are as in Request.
	Node  *NodeFacts
	Texts *pod.Texts
}
