package projection

import (
	"errors"
	"fmt"
	"maps"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// Question is a question to a plugin. All its values were checked with shape.Check. A
// missing value is nil.
type Question struct {
	Object, OldObject any
	// Request has the fields of the shape Request, and Node the fields of the shape Node.
	Request, Node any
	// Each element of Candidates has the fields of the shape Candidate.
	Candidates []any
}

// The numbers of documents. DocumentNode is exported for callers, which check
// the capability that the facts about the node need.
const (
	documentRequest = iota
	documentObject
	documentOldObject
	DocumentNode
	documentCandidate = 16
)

// Document returns a whole document of the question as JSON, and false if there is no such
// document.
func (q *Question) Document(number int) (text []byte, ok bool, err error) {
	var of string
	var value any
	switch {
	case number == documentRequest:
		of, value = "Request", q.Request
	case number == documentObject:
		of, value = "Pod", pod(q.Object)
	case number == documentOldObject:
		of, value = "Pod", pod(q.OldObject)
	case number == DocumentNode:
		of, value = "Node", q.Node
	case number >= documentCandidate && number-documentCandidate < len(q.Candidates):
		candidate, _ := q.Candidates[number-documentCandidate].(map[string]any)
		of, value = "Pod", pod(candidate["object"])
	}
	if value == nil {
		return nil, false, nil
	}
	t, err := shape.Named(of)
	if err != nil {
		return nil, false, err
	}
	text, err = shape.Render(value, t.Without("status", "managedFields"))
	return text, true, err
}

// pod returns a pod as it is written as a whole document, with its kind and apiVersion.
func pod(object any) any {
	fields, ok := object.(map[string]any)
	if !ok {
		return nil
	}
	fields = maps.Clone(fields)
	fields["kind"], fields["apiVersion"] = "Pod", "v1"
	return fields
}

// errNoField is the error for a path that is only a root.
var errNoField = errors.New("a field must follow the root: object.spec, request.operation, candidates[*].source")

// root returns a function from a question to the value at the root of a path, the type of
// this value, and the rest of the path.
func (p *Projection) root(path []Segment) (from func(q *Question) any, of *shape.Type, rest []Segment, err error) {
	name, rest := path[0].name, path[1:]
	below := rest
	if name == "candidates" && len(rest) > 0 && rest[0].kind != segmentField {
		below = rest[1:]
	}
	if len(below) == 0 || below[0].kind != segmentField {
		return nil, nil, nil, errNoField
	}
	switch name {
	case "object":
		from, of, err = podRoot(below, func(q *Question) any { return q.Object })
	case "oldObject":
		from, of, err = podRoot(below, func(q *Question) any { return q.OldObject })
	case "request":
		if below[0].name == "references" && !p.ReferencesRead {
			return nil, nil, nil, errors.New(`what the pod names needs the capability "references.read": name it in the policy document, and in tests with sdktest.ReferencesRead`)
		}
		from = func(q *Question) any { return q.Request }
		of, err = shape.Named("Request")
	case "node":
		if !p.NodeRead {
			return nil, nil, nil, errors.New(`facts about the node need the capability "node.read": name it in the policy document, and in tests with sdktest.NodeRead`)
		}
		from = func(q *Question) any { return q.Node }
		of, err = shape.Named("Node")
	case "candidates":
		if below[0].name == "object" {
			if len(below) == 1 || below[1].kind != segmentField {
				return nil, nil, nil, errors.New("a field must follow: candidates[*].object.metadata")
			}
			if _, _, err := podRoot(below[1:], nil); err != nil {
				return nil, nil, nil, err
			}
		}
		from = func(q *Question) any { return append([]any{}, q.Candidates...) }
		var candidate *shape.Type
		candidate, err = shape.Named("Candidate")
		of = &shape.Type{Kind: shape.List, Elem: candidate}
	default:
		err = fmt.Errorf("unknown root %q: it must be object, oldObject, request, node or candidates", name)
	}
	return from, of, rest, err
}

func podRoot(below []Segment, from func(q *Question) any) (func(q *Question) any, *shape.Type, error) {
	if below[0].name == "status" {
		return nil, nil, errors.New("the status of a pod is not judged: it is no part of the object")
	}
	of, err := shape.Named("Pod")
	return from, of, err
}
