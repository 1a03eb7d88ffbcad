//go:build !wasip1

package sdktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// Request is a question about one pod.
type Request struct {
	// Pod is the pod to judge: JSON text (a string or []byte), or a value of
	// which encoding/json makes such. Unknown fields are errors.
	Pod any
	// Old is what was admitted before, in the same forms; nil for none.
	Old any
	// Operation is ADD or UPDATE; empty is UPDATE where Old is given and
	// Replaces is not, else ADD.
	Operation string
	// Replaces is the UID of Old where it is another pod's.
	Replaces string
	// Source and Document say where the pod comes from, Node is the node's
	// name, Time the decision's; each has a default.
	Source, Document, Node string
	Time                   time.Time
}

// Operations.
const (
	Add    = "ADD"
	Update = "UPDATE"
)

var usualTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func (r *Request) question() (*projection.Question, error) {
	if r.Pod == nil {
		return nil, errors.New("the pod is missing: set Pod")
	}
	object, err := decodePod("Pod", r.Pod)
	if err != nil {
		return nil, err
	}
	q := &projection.Question{
		Object:    object,
		Operation: r.Operation, Replaces: r.Replaces,
		Source: cmp.Or(r.Source, "test"), Document: cmp.Or(r.Document, "test.yaml#0"), Node: cmp.Or(r.Node, "node"),
		Time: usualTime.UnixMilli(),
	}
	if !r.Time.IsZero() {
		q.Time = r.Time.UnixMilli()
	}
	if r.Old != nil {
		if q.OldObject, err = decodePod("Old", r.Old); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Operation == "" && r.Old != nil && r.Replaces == "":
		q.Operation = Update
	case r.Operation == "":
		q.Operation = Add
	case r.Operation != Add && r.Operation != Update:
		return nil, fmt.Errorf("the operation is %q: want %s or %s", r.Operation, Add, Update)
	}
	if r.Replaces != "" && r.Old == nil {
		return nil, errors.New("a pod is replaced: Old must be the pod of that UID")
	}
	return q, nil
}

// decodePod gives a pod in its checked form; name is where it came from.
func decodePod(name string, pod any) (any, error) {
	var text []byte
	switch pod := pod.(type) {
	case string:
		text = []byte(pod)
	case []byte:
		text = pod
	default:
		var err error
		if text, err = json.Marshal(pod); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("%s is no JSON: %w", name, err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("%s: there is more after the pod", name)
	}
	of, err := shape.Named("Pod")
	if err != nil {
		return nil, err
	}
	object, err := shape.Check(decoded, of, name)
	if err == nil && object == nil {
		return nil, fmt.Errorf("%s is null", name)
	}
	return object, err
}
