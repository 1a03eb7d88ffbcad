package policy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// execBy returns a question about an exec of a user in the pod web.
func execBy(namespace, source, user string) api.Question {
	q := policytest.Question("web", in(namespace))
	q.Op = api.Connect
	q.Connection = &api.Connection{Kind: api.ConnectExec, Source: source, Container: "main", Command: []string{"sh", "-c", "secret"}, User: user}
	return q
}

func connectBy(t *testing.T, p *Engine, q api.Question) api.Verdict {
	t.Helper()
	answer := make(chan api.Verdict, 1)
	p.Connect(q, func(v api.Verdict) { answer <- v })
	return <-answer
}

func TestConnect_theStrongestAnswerCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operator, tenant []string
		source, user     string
		want             api.Verdict
	}{
		"one that allows":                        {operator: []string{"allow"}, want: api.Verdict{Answer: api.Allow, Policy: "p0"}},
		"one that abstains":                      {operator: []string{"abstain"}, want: api.Verdict{Answer: api.Allow}},
		"one that denies, whatever others allow": {operator: []string{"allow", "deny NoExec not here"}, want: api.Verdict{Answer: api.Deny, Policy: "p1", Reason: "NoExec", Message: `policy "p1": not here`}},
		"a tenant's own": {
			operator: []string{"allow"}, tenant: []string{"deny NoExec not here"},
			want: api.Verdict{Answer: api.Deny, Policy: "p0", Tenant: "shop", Reason: "NoExec", Message: `policy "p0" of tenant "shop": not here`},
		},
		"root is denied by a policy like others": {
			operator: []string{"deny NoExec not here"}, source: api.FromSocket, user: api.LocalRoot,
			want: api.Verdict{Answer: api.Deny, Policy: "p0", Reason: "NoExec", Message: `policy "p0": not here`},
		},
		"a failure denies, whatever on_error says": {
			operator: []string{"trap x\non_error = \"allow\""},
			want:     api.Verdict{Answer: api.Deny, Policy: "p0", Reason: api.ReasonPolicyFailed, Message: `policy "p0": the plugin failed with Trap: x (connections are denied where a policy fails)`},
		},
		"but never root on the local socket": {
			operator: []string{"trap x\non_error = \"deny\""}, source: api.FromSocket, user: api.LocalRoot,
			want: api.Verdict{Answer: api.Allow, Policy: "p0", Reason: api.ReasonPolicyFailed, Message: `policy "p0": the plugin failed with Trap: x (root on the local socket passes where a policy fails)`},
		},
		"a user of a cluster called root is not root": {
			operator: []string{"trap x"}, user: api.LocalRoot,
			want: api.Verdict{Answer: api.Deny, Policy: "p0", Reason: api.ReasonPolicyFailed, Message: `policy "p0": the plugin failed with Trap: x (connections are denied where a policy fails)`},
		},
		"another mode denies nothing": {operator: []string{"deny\nmode = \"audit\""}, want: api.Verdict{Answer: api.Allow}},
		"nor another user": {
			operator: []string{"deny\n[match]\nconditions = [\"request.connection.user != 'alice'\"]"}, want: api.Verdict{Answer: api.Allow},
		},
		"a group of users": {
			operator: []string{"deny\n[match]\nconditions = [\"request.connection.kind == 'exec' && !('ops' in request.connection.groups)\"]"},
			want:     api.Verdict{Answer: api.Deny, Policy: "p0", Reason: api.ReasonPolicyDenied, Message: `policy "p0" gives no message`},
		},
		"an exception": {
			operator: []string{"deny\n[[exception]]\npods = [\"shop/web\"]\nowner = \"ops\"\nexpires = \"9999-12-31\""},
			want:     api.Verdict{Answer: api.Allow},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Scripts(api.HookConnect, test.operator)
				d.Of("shop").Scripts(api.HookConnect, test.tenant)
				tenant := func(*Config) {}
				if test.tenant != nil {
					tenant = tenanted(d, "shop")
				}
				p, _ := listed(t, d, s, tenant)
				run(t, p)
				source, user := api.FromNodeAPI, "alice"
				if test.source != "" {
					source = test.source
				}
				if test.user != "" {
					user = test.user
				}
				got := connectBy(t, p, execBy("shop", source, user))
				if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(api.Verdict{}, "At", "Sets", "Opinions")); diff != "" {
					t.Errorf("verdict (-want +got):\n%s", diff)
				}
				if on := p.Decisions(); len(got.Opinions) > 0 && (len(on) != 1 || on[0].Hook != api.HookConnect || on[0].Op != api.Connect ||
					on[0].Connection != "exec in container main by "+user+" ("+source+"): sh") {
					t.Errorf("on record: %+v", on)
				}
			})
		})
	}
}

func TestConnect_isNotWhatAdmits(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("c", api.HookConnect, "deny")
		d.Hooked("a", api.HookAdmit, "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		if v := ask(t, p, policytest.Question("web", in("shop"))); v.Answer != api.Allow {
			t.Errorf("admission %+v", v)
		}
		if v := connectBy(t, p, execBy("shop", api.FromNodeAPI, "alice")); v.Answer != api.Deny || v.Reason != api.ReasonPolicyDenied {
			t.Errorf("connection %+v", v)
		}
		if want := []string{"a web", "c connects web"}; !cmp.Equal(s.Calls(), want) {
			t.Errorf("called %q, want %q", s.Calls(), want)
		}
	})
}

func TestConnect_withoutAPolicyInForce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source, user string
		want         api.Answer
	}{
		"is denied":        {api.FromNodeAPI, "alice", api.Deny},
		"but not to root":  {api.FromSocket, api.LocalRoot, api.Allow},
		"others on socket": {api.FromSocket, "uid:1000", api.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				d.Write("broken.toml", "api = 1")
				p, _ := listed(d.T, d, s)
				run(d.T, p)
				if v := connectBy(d.T, p, execBy("shop", test.source, test.user)); v.Answer != test.want || v.Reason != api.ReasonPoliciesNotReady {
					d.T.Errorf("verdict %+v", v)
				}
			})
		})
	}
}

func TestConnect_aSpentBudgetDeniesWithoutARecord(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("c", api.HookConnect, "allow")
		s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 3000 }
		d.Policy("a", "allow")
		p, _ := listed(t, d, s, tenanted(d, "shop"), func(c *Config) { c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond = "", 100 })
		run(t, p)
		ask(t, p, policytest.Question("first", in("shop")))
		if v := connectBy(t, p, execBy("shop", api.FromNodeAPI, "alice")); v.Answer != api.Deny || v.Reason != api.ReasonBudgetExhausted {
			t.Errorf("verdict %+v", v)
		}
		if v := connectBy(t, p, execBy("shop", api.FromSocket, api.LocalRoot)); v.Answer != api.Allow {
			t.Errorf("verdict %+v", v)
		}
		if on := p.Decisions(); len(on) != 1 || on[0].Hook != api.HookAdmit {
			t.Errorf("on record: %+v", on)
		}
	})
}

// TestConnect_isNoLastVerdict checks that a verdict about a pod is not used as the last
// verdict about a connection to the pod, nor the other way round.
func TestConnect_isNoLastVerdict(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("p.wasm", "allow")
		d.Write("p.toml", "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nsha256 = \""+policytest.SumOf("allow")+
			"\"\nhooks = [\"admit\", \"connect\"]\non_error = \"last_verdict\"\n")
		p, _ := listed(t, d, s)
		run(t, p)
		if v := connectBy(t, p, execBy("shop", api.FromNodeAPI, "alice")); v.Answer != api.Allow {
			t.Fatalf("connection %+v", v)
		}
		s.Edit = func(_ string, r *wasm.Result) { r.Answer = "nonsense" }
		if v := ask(t, p, policytest.Question("web", in("shop"))); v.Answer != api.Hold || !strings.Contains(v.Message, "has not judged this version of the pod before") {
			t.Errorf("admission %+v", v)
		}
	})
}

// TestConnect_recordsEachCommandOnce checks that each command has its own record, and that a
// repeated command only increments the record's count.
func TestConnect_recordsEachCommandOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("c", api.HookConnect, "allow")
		disk := &policytest.RecordDisk{}
		p, _ := listed(t, d, s, func(c *Config) { c.Records = disk })
		run(t, p)
		q := execBy("shop", api.FromNodeAPI, "alice")
		for _, command := range [][]string{{"ls"}, {"ls"}, {"ls", "-l"}} {
			q.Connection = &api.Connection{Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "main", Command: command, User: "alice"}
			connectBy(t, p, q)
		}
		synctest.Wait()
		want := []string{"connect shop/web allow  ×2 as -1", "connect shop/web allow  ×1 as -2"}
		if diff := cmp.Diff(want, shownBy(p)); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
	})
}

// TestConnect_waitsForItsTurnAtAnOpenBreaker checks that a plugin that fails on other pods is
// still asked about a connection if its turn comes before the user's request times out.
func TestConnect_waitsForItsTurnAtAnOpenBreaker(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("c", api.HookConnect, "picky allow")
		p, _ := listed(t, d, s)
		run(t, p)
		bad := execBy("shop", api.FromNodeAPI, "alice")
		for _, name := range []string{"bad-1", "bad-2", "bad-3", "bad-4", "bad-5"} {
			bad.Pod = policytest.SomePod(name)
			connectBy(t, p, bad)
		}
		bad.Pod = policytest.SomePod("bad-1")
		if v := connectBy(t, p, bad); v.Answer != api.Deny || !strings.Contains(v.Message, "BreakerOpen") {
			t.Errorf("what failed: %+v", v)
		}
		began := time.Now()
		if v := connectBy(t, p, execBy("shop", api.FromNodeAPI, "alice")); v.Answer != api.Allow {
			t.Errorf("another pod: %+v", v)
		}
		if took := time.Since(began); took > eval.ConnectPatience {
			t.Errorf("took %s", took)
		}
	})
}
