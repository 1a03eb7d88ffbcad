//go:build !wasip1

package sdktest

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// MergeRequest is a question to the hook merge.
type MergeRequest struct {
	// Candidates are in the order of the ranks of their sources.
	Candidates []Candidate
	// Tenant is the tenant that the pod belongs to, empty for the operator's pods.
	Tenant string
	// Node is the name of the node. Time is the time of the decision. Both have a default.
	Node string
	Time time.Time
	// ClockUnsynchronized: the node's clock is not known to be right.
	ClockUnsynchronized bool
	// Facts are facts about the node, nil if the agent has none.
	Facts *NodeFacts
}

// Candidate is a document that describes the pod.
type Candidate struct {
	// Pod has one of the forms of Request.Pod.
	Pod any
	// Source is the name of the document's source, and Document the name of the document in
	// the source. Kind is the kind of the source: file, http or api. Each has a default.
	Source, Document, Kind string
	// Running: this candidate runs; at most one candidate does. Restored: the agent
	// remembers the candidate from before its start, and the source has not confirmed it
	// since.
	Running, Restored bool
	// FirstSeen is zero if it is not known.
	FirstSeen time.Time
}

func (r *MergeRequest) question() (*projection.Question, error) {
	if len(r.Candidates) == 0 {
		return nil, errors.New("there is no candidate: set Candidates")
	}
	q := &projection.Question{}
	for i := range r.Candidates {
		name := "Candidates[" + strconv.Itoa(i) + "]"
		candidate, err := r.Candidates[i].question(name, i)
		if err != nil {
			return nil, err
		}
		q.Candidates = append(q.Candidates, candidate)
		switch {
		case !r.Candidates[i].Running:
		case q.OldObject != nil:
			return nil, fmt.Errorf("%s runs, and so does another: only one can", name)
		default:
			q.OldObject = candidate["object"]
		}
	}
	c := circumstances{r.Tenant, r.Node, r.Time, r.ClockUnsynchronized, r.Facts}
	return q, c.fill(q, hookMerge, nil)
}

func (c *Candidate) question(name string, i int) (map[string]any, error) {
	object, err := pod(name+".Pod", c.Pod)
	switch {
	case err != nil:
		return nil, err
	case object == nil:
		return nil, fmt.Errorf("%s has no pod: set Pod", name)
	}
	kind, err := sourceKind(c.Kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	candidate := map[string]any{
		"object": object, "kind": kind,
		"source":   cmp.Or(c.Source, "test"),
		"document": cmp.Or(c.Document, "test.yaml#"+strconv.Itoa(i)),
		"running":  c.Running, "restored": c.Restored,
	}
	if !c.FirstSeen.IsZero() {
		candidate["firstSeen"] = c.FirstSeen.UnixMilli()
	}
	return candidate, nil
}
