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
	// Candidates stand in the order of their sources' ranks.
	Candidates []Candidate
	// Tenant is whose pod it is; empty for the operator's.
	Tenant string
	// Node is the node's name, Time the decision's; each has a default.
	Node string
	Time time.Time
	// ClockUnsynchronized: the node's clock is not known to be right.
	ClockUnsynchronized bool
	// Facts are about the node; nil where the agent knows none.
	Facts *NodeFacts
}

// Candidate is a document that describes the pod.
type Candidate struct {
	// Pod is in the forms of Request.Pod.
	Pod any
	// Source and Document say where it comes from, Kind is the source's: file,
	// http or api. Each has a default.
	Source, Document, Kind string
	// Running: this one runs; one at most. Restored: it is known from before
	// the agent started.
	Running, Restored bool
	// FirstSeen is zero where it is not known.
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
