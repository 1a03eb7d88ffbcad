package agent

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/status"
)

// connectTimeout limits how long policies may take to decide about a connection. It is longer than
// the time for which policies delay a question.
const connectTimeout = 15 * time.Second

// maxConnecting limits the number of connections that policies are asked about at once. Further
// connections wait for a place, for connectTimeout at most.
const maxConnecting = 64

// Reasons of the events about connections.
const (
	reasonConnected        = "Connected"
	reasonConnectionDenied = "ConnectionDenied"
)

// connections decides whether users may connect to the pods of this node. Each decision is an
// event.
type connections struct {
	// policies is nil for a node without policies.
	policies interface {
		Connect(q api.Question, answer func(api.Verdict))
	}
	origins func() map[types.UID]api.Origin
	events  status.Recorder
	// asking has an element for each question without an answer.
	asking chan struct{}
}

// connections returns the decisions about connections of this node.
func (n *Node) connections() *connections {
	c := &connections{origins: n.origins, events: n.recorder, asking: make(chan struct{}, maxConnecting)}
	if n.policies != nil {
		c.policies = instrument.Connections{Policies: n.policies, Meters: n.meters}
	}
	return c
}

// Connect implements nodeapi.Connections.
func (c *connections) Connect(ctx context.Context, p *v1.Pod, requested *nodeapi.Connection) error {
	x := api.Connection(*requested)
	v := c.verdict(ctx, p, &x)
	if ctx.Err() != nil {
		return context.Cause(ctx) // the client is gone
	}
	if v.Answer == api.Allow {
		text := x.String()
		if v.Message != "" {
			text += "; " + v.Message
		}
		c.events.Event(p, v1.EventTypeNormal, reasonConnected, text)
		return nil
	}
	c.events.Event(p, v1.EventTypeWarning, reasonConnectionDenied, fmt.Sprintf("%s; %s: %s", x.String(), v.Reason, v.Message))
	return fmt.Errorf("%s to pod %s/%s is denied by policy: %s: %s", x.Kind, p.Namespace, p.Name, v.Reason, v.Message)
}

// verdict returns the verdict of the policies, Allow for a node without policies.
func (c *connections) verdict(ctx context.Context, p *v1.Pod, x *api.Connection) api.Verdict {
	if c.policies == nil {
		return api.Verdict{Answer: api.Allow}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	answer := make(chan api.Verdict, 1)
	select {
	case c.asking <- struct{}{}:
		q := api.Question{Op: api.Connect, Pod: p, Origin: c.origins()[p.UID], Connection: x}
		c.policies.Connect(q, func(v api.Verdict) {
			answer <- v
			<-c.asking
		})
	case <-ctx.Done():
	}
	select {
	case v := <-answer:
		return v
	case <-ctx.Done():
		v := api.Verdict{Answer: api.Deny, Reason: api.ReasonPolicyFailed, Message: fmt.Sprintf("the policies have not answered in %s; try again", connectTimeout)}
		if x.ByLocalRoot() {
			v.Answer = api.Allow
		}
		return v
	}
}
