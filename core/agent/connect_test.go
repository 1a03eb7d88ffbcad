package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/nodeapi"
)

// connectFunc is a function that decides about connections.
type connectFunc func(q api.Question, answer func(api.Verdict))

func (f connectFunc) Connect(q api.Question, answer func(api.Verdict)) { f(q, answer) }

// saidEvents records the events about pods.
type saidEvents []string

func (s *saidEvents) Event(p *v1.Pod, eventType, reason, message string) {
	*s = append(*s, strings.Join([]string{p.Name, eventType, reason, message}, " | "))
}

func TestConnections_eachIsAnEvent(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	origin := api.Origin{Source: "cluster", Document: "shop/web"}
	gives := func(v api.Verdict) connectFunc {
		return func(_ api.Question, answer func(api.Verdict)) { go answer(v) }
	}
	silent := connectFunc(func(api.Question, func(api.Verdict)) {})
	remote := nodeapi.Connection{Kind: "exec", Source: "node-api", Container: "main", Command: []string{"sh", "-c", "echo secret"}, User: "alice", Groups: []string{"ops"}}
	local := nodeapi.Connection{Kind: "exec", Source: "socket", Container: "main", Command: []string{"sh"}, User: "root"}
	for name, test := range map[string]struct {
		policies  connectFunc
		requested nodeapi.Connection
		refusal   string
		event     string
	}{
		"a node without policies": {nil, remote, "", "web | Normal | Connected | exec in container main by alice (node-api): sh"},
		"allowed":                 {gives(api.Verdict{Answer: api.Allow, Policy: "p"}), remote, "", "web | Normal | Connected | exec in container main by alice (node-api): sh"},
		"allowed though a policy failed": {
			gives(api.Verdict{Answer: api.Allow, Reason: "PolicyFailed", Message: "it failed"}), local, "",
			"web | Normal | Connected | exec in container main by root (socket): sh; it failed",
		},
		"denied": {
			gives(api.Verdict{Answer: api.Deny, Reason: "NoExec", Message: "not on this node"}), remote,
			"exec to pod shop/web is denied by policy: NoExec: not on this node",
			"web | Warning | ConnectionDenied | exec in container main by alice (node-api): sh; NoExec: not on this node",
		},
		"policies that do not answer": {
			silent, remote, "exec to pod shop/web is denied by policy: PolicyFailed: the policies have not answered in 15s; try again",
			"web | Warning | ConnectionDenied | exec in container main by alice (node-api): sh; PolicyFailed: the policies have not answered in 15s; try again",
		},
		"policies that do not answer root": {
			silent, local, "", "web | Normal | Connected | exec in container main by root (socket): sh; the policies have not answered in 15s; try again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked api.Question
				events := &saidEvents{}
				c := &connections{asking: make(chan struct{}, 1), events: events, origins: func() map[types.UID]api.Origin { return map[types.UID]api.Origin{"u1": origin} }}
				if test.policies != nil {
					c.policies = connectFunc(func(q api.Question, answer func(api.Verdict)) { asked = q; test.policies(q, answer) })
				}
				got := ""
				if err := c.Connect(t.Context(), pod, &test.requested); err != nil {
					got = err.Error()
				}
				if got != test.refusal {
					t.Errorf("error %q, want %q", got, test.refusal)
				}
				if diff := cmp.Diff([]string{test.event}, []string(*events)); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if test.policies == nil {
					return
				}
				want := api.Question{Op: api.Connect, Pod: pod, Origin: origin, Connection: new(api.Connection(test.requested))}
				if diff := cmp.Diff(want, asked); diff != "" {
					t.Errorf("question (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestConnections_aClientThatLeavesIsNoEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := &saidEvents{}
		c := &connections{
			asking: make(chan struct{}, 1), events: events, origins: func() map[types.UID]api.Origin { return nil },
			policies: connectFunc(func(api.Question, func(api.Verdict)) {}),
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Connect(ctx, &v1.Pod{}, &nodeapi.Connection{Kind: "exec", Source: "socket", User: "root"}); err == nil || len(*events) > 0 {
			t.Errorf("error %v, events %q", err, *events)
		}
	})
}

// The number of questions without an answer is bounded, however many clients connect.
func TestConnections_noMoreThanSoManyAreAskedAbout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var open []func(api.Verdict)
		c := &connections{
			asking: make(chan struct{}, 2), events: &saidEvents{}, origins: func() map[types.UID]api.Origin { return nil },
			policies: connectFunc(func(_ api.Question, answer func(api.Verdict)) { open = append(open, answer) }),
		}
		request := func() error {
			return c.Connect(t.Context(), &v1.Pod{}, &nodeapi.Connection{Kind: "exec", Source: "node-api", User: "alice"})
		}
		for range 5 {
			if err := request(); err == nil || !strings.Contains(err.Error(), "have not answered") {
				t.Errorf("error %v", err)
			}
		}
		if len(open) != 2 {
			t.Fatalf("%d questions, want 2", len(open))
		}
		open[0](api.Verdict{Answer: api.Allow}) // late
		done := make(chan error)
		go func() { done <- request() }()
		synctest.Wait()
		if len(open) != 3 {
			t.Fatalf("%d questions after an answer, want 3", len(open))
		}
		open[2](api.Verdict{Answer: api.Allow})
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
