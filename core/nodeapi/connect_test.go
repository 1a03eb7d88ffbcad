package nodeapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

// connections permits only exec in the pod "web" of programs other than "rm". It records the
// questions.
type connections struct {
	mu    sync.Mutex
	asked []Connection
}

func (c *connections) Connect(_ context.Context, p *v1.Pod, x *Connection) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, *x)
	if p.Name != "web" || slices.Contains(x.Command, "rm") || x.Kind != "exec" {
		return errors.New("policy no-exec denies it")
	}
	return nil
}

func TestStreams_areDecisionsBeforeTheRuntimeIsAsked(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	c := &connections{}
	n.server.streams.Connections = c
	admin := caller{cert: n.client(n.clients, "admin", "system:masters")}
	for _, test := range []struct {
		name string
		who  caller
		path string
		code int
		text string
		want []Connection
	}{
		{
			"allowed",
			caller{token: "good"},
			"/exec/shop/web/main?command=ls&command=-l&output=1", 500, "the runtime runs nothing here",
			[]Connection{{Kind: "exec", Source: "node-api", Container: "main", Command: []string{"ls", "-l"}, User: "reader"}},
		},
		{
			"denied", admin, "/exec/shop/web/main?command=rm&output=1", 403, "policy no-exec denies it",
			[]Connection{{Kind: "exec", Source: "node-api", Container: "main", Command: []string{"rm"}, User: "admin", Groups: []string{"system:masters", "system:authenticated"}}},
		},
		{
			"attach",
			caller{token: "good"},
			"/attach/shop/web/main?command=ls&output=1", 403, "policy no-exec denies it",
			[]Connection{{Kind: "attach", Source: "node-api", Container: "main", User: "reader"}},
		},
		{
			"port-forward",
			caller{token: "good"},
			"/portForward/shop/web", 403, "policy no-exec denies it",
			[]Connection{{Kind: "portforward", Source: "node-api", User: "reader"}},
		},
		{"without the right", caller{token: "weak"}, "/exec/shop/web/main?command=ls&output=1", 403, "Forbidden", nil},
		{"a container that does not run", caller{token: "good"}, "/exec/shop/web/side?command=ls&output=1", 400, "does not run", nil},
		{"no streams", caller{token: "good"}, "/exec/shop/web/main?command=ls", 400, "at least 1", nil},
	} {
		c.asked = nil
		if code, text := n.ask(test.who, "POST", test.path); code != test.code || !strings.Contains(text, test.text) {
			t.Errorf("%s: %d %q, want %d %q", test.name, code, text, test.code, test.text)
		}
		if diff := cmp.Diff(test.want, c.asked); diff != "" {
			t.Errorf("%s: asked (-want +got):\n%s", test.name, diff)
		}
	}
}
