package eval

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestAConditionThatCannotBeToldIsAFailureOfItsPolicy(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "allow\non_error = \"deny\"\n[match]\nconditions = [\"object.metadata.labels['none'] == 'web'\"]")
	v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if o := v.Opinions[0]; v.Answer != api.Deny || o.Failure != "ConditionFailed" || o.Fuel == 0 ||
		!strings.Contains(v.Message, "a condition failed with ConditionFailed: the condition object.metadata.labels['none'] == 'web': no such key: none") {
		t.Errorf("verdict %+v", v)
	}
	if len(s.Calls()) > 0 {
		t.Error("its plugin is asked")
	}
}

func TestADecisionAsksForItsTurnAsOftenAsAPluginWould(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		conditions string
		asks       bool
	}{
		"many that are cheap":        {"[match]\nconditions = [" + strings.Repeat(`"request.operation == 'ADD'", `, 31) + `"false"]`, false},
		"one that is dear, and some": {policytest.ExpensiveConditions(1), true},
		"many that are dear":         {policytest.ExpensiveConditions(31), true},
	} {
		s := policytest.NewScripts()
		loaded := loadScripts(t, s, "deny\n"+test.conditions)
		told, times := int64(0), int64(0)
		turns := wasm.WithTurns(t.Context(), func(fuel int64) {
			told, times = told+fuel, times+1
			if fuel < wasm.TurnFuel {
				t.Errorf("%s: it asks after %d", name, fuel)
			}
		})
		d := deciding(policytest.Question("web"))
		Judge(turns, []*Set{loaded}, d, api.Allow)
		if test.asks != (times > 0) {
			t.Errorf("%s: it asks %d times", name, times)
		}
		if left := d.Spent - told; left < 0 || left >= wasm.TurnFuel {
			t.Errorf("%s: it took %d and said so of %d", name, d.Spent, told)
		}
	}
}

func TestAReplacementIsSeenByConditions(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "deny\n[match]\nconditions = [\"request.replaces == 'uid-old' && oldObject.metadata.name == 'old'\"]")
	q := policytest.Question("web", func(q *api.Question) {
		q.Replaces, q.Old = "uid-old", policytest.SomePod("old", func(p *v1.Pod) { p.UID = "uid-old" })
	})
	if v := Judge(t.Context(), []*Set{loaded}, deciding(q), api.Allow); v.Answer != api.Deny {
		t.Errorf("verdict %+v", v)
	}
}

func TestConditionsSayWhetherAPolicyIsAsked(t *testing.T) {
	t.Parallel()
	for condition, asked := range map[string]bool{
		`["object.spec.hostNetwork"]`:  false,
		`["!object.spec.hostNetwork"]`: true,
		`["object.metadata.labels['tier'] == 'web'", "request.operation == 'ADD'"]`:    true,
		`["object.metadata.labels['tier'] == 'web'", "request.kind == 'api'"]`:         false,
		`["request.node == 'node-1' && request.hook == 'admit'"]`:                      true,
		`["request.document == 'web.yaml#0' && request.source == 'static'"]`:           true,
		`["has(oldObject.metadata.name)"]`:                                             false,
		`["containers(object.spec).exists(c, c.image == 'img')"]`:                      true,
		`["request.time.getFullYear() == 2026 && request.clockSynchronized == false"]`: true,
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewScripts()
			loaded := loadScripts(t, s, "deny\n[match]\nconditions = "+condition)
			d := deciding(policytest.Question("web"))
			v := Judge(t.Context(), []*Set{loaded}, d, api.Allow)
			if got := len(s.Calls()) > 0; got != asked || asked != (v.Answer == api.Deny) {
				t.Errorf("asked %t: %+v", got, v)
			}
			if asked && (v.Opinions[0].Fuel == 0 || d.Spent != 0) || !asked && (len(v.Opinions) > 0 || d.Spent == 0) {
				t.Errorf("fuel %d beside the opinions %+v", d.Spent, v.Opinions)
			}
		})
	}
}

func TestNoMoreConditionsAreAskedWhenTheNodeStops(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "deny\n"+policytest.ExpensiveConditions(31), "allow")
	ctx, cancel := context.WithCancel(t.Context())
	times := 0
	turns := wasm.WithTurns(ctx, func(int64) { times++; cancel() })
	Judge(turns, []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if times != 1 || len(s.Calls()) > 0 {
		t.Errorf("it goes on: it asked %d times more whether it is another's turn, and plugins %q", times-1, s.Calls())
	}
}
