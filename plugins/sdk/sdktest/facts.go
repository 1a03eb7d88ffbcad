//go:build !wasip1

package sdktest

import (
	"cmp"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// NodeFacts are facts about the node. Policies see them only with the capability NodeRead.
type NodeFacts struct {
	Labels map[string]string `json:"labels,omitempty"`
	// Allocatable are quantities by resource.
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Pods        []NodePod         `json:"pods,omitempty"`
}

// NodePod are facts about a pod on the node.
type NodePod struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	UID       string            `json:"uid"`
	Source    string            `json:"source"`
	Labels    map[string]string `json:"labels,omitempty"`
	Priority  int32             `json:"priority"`
	// Requests are quantities by resource, summed over the pod.
	Requests  map[string]string `json:"requests,omitempty"`
	HostPorts []int32           `json:"hostPorts,omitempty"`
}

// circumstances are the parts that the questions of all hooks have.
type circumstances struct {
	tenant, node   string
	time           time.Time
	unsynchronized bool
	facts          *NodeFacts
}

var usualTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// fill adds the circumstances to a question to a hook. more are further fields of the
// request.
func (c *circumstances) fill(q *projection.Question, hook string, more map[string]any) (err error) {
	node := cmp.Or(c.node, "node")
	at := usualTime
	if !c.time.IsZero() {
		at = c.time
	}
	request := map[string]any{
		"hook": hook, "node": node, "time": at.UnixMilli(), "clockSynchronized": !c.unsynchronized,
	}
	if c.tenant != "" {
		request["tenant"] = c.tenant
	}
	for name, value := range more {
		if value != "" {
			request[name] = value
		}
	}
	if q.Request, err = checked("the request", "Request", request); err != nil || c.facts == nil {
		return err
	}
	if q.Node, err = checked("Facts", "Node", c.facts); err != nil {
		return err
	}
	facts, _ := q.Node.(map[string]any)
	facts["name"] = node
	return nil
}
