package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// usual is a quota for the namespaces shop and shop-….
var usual = map[string]any{"quota": map[string]any{
	"shop": map[string]any{"namespaces": []string{"shop", "shop-*"}, "cpu": "4", "memory": "8Gi", "pods": 3},
}}

// asking returns a pod with namespace shop and UID u. Its one container requests cpu and
// memory; an empty amount is no request.
func asking(cpu, memory string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "u"},
		"spec":     map[string]any{"containers": []any{container("a", cpu, memory)}},
	}
}

func container(name, cpu, memory string) map[string]any {
	requests := map[string]string{}
	for resource, amount := range map[string]string{"cpu": cpu, "memory": memory} {
		if amount != "" {
			requests[resource] = amount
		}
	}
	return map[string]any{"name": name, "resources": map[string]any{"requests": requests}}
}

// runs returns a pod that is on the node.
func runs(namespace, uid, cpu, memory string) sdktest.NodePod {
	return sdktest.NodePod{Namespace: namespace, Name: uid, UID: uid, Source: "test", Requests: map[string]string{"cpu": cpu, "memory": memory}}
}

func node(pods ...sdktest.NodePod) *sdktest.NodeFacts { return &sdktest.NodeFacts{Pods: pods} }

func judge(t *testing.T, settings map[string]any, r sdktest.Request) sdktest.Result {
	t.Helper()
	return sdktest.Load(t, settings, sdktest.NodeRead).Admit(t, r)
}

func TestPodsTogetherStayWithinTheQuota(t *testing.T) {
	for name, test := range map[string]struct {
		pod  map[string]any
		node *sdktest.NodeFacts
		want sdktest.Answer
		say  string
	}{
		"an empty node":              {asking("4", "8Gi"), node(), sdktest.Allow, ""},
		"just enough is left":        {asking("500m", "1Gi"), node(runs("shop", "a", "3500m", "7Gi")), sdktest.Allow, ""},
		"a thousandth too much":      {asking("501m", ""), node(runs("shop", "a", "3500m", "1")), sdktest.Hold, `quota "shop": cpu: 3500m used by other pods, 501m asked, 4 allowed`},
		"a byte too much":            {asking("", "1073741825"), node(runs("shop", "a", "1", "7Gi")), sdktest.Hold, "memory: 7Gi used by other pods, 1073741825 asked, 8Gi allowed"},
		"one pod too much":           {asking("", ""), node(runs("shop", "a", "0", "0"), runs("shop", "b", "0", "0"), runs("shop-eu", "c", "0", "0")), sdktest.Hold, "pods: 3 used by other pods, 1 asked, 3 allowed"},
		"more than all":              {asking("5", ""), node(), sdktest.Hold, "cpu: 0 used by other pods, 5 asked, 4 allowed"},
		"all of it too much":         {asking("2", "2Gi"), node(runs("shop", "a", "3", "7Gi"), runs("shop", "b", "0", "0"), runs("shop", "c", "0", "0")), sdktest.Hold, "cpu: 3 used by other pods, 2 asked, 4 allowed; memory: 7Gi used by other pods, 2Gi asked, 8Gi allowed; pods: 3"},
		"pods of other namespaces":   {asking("4", "8Gi"), node(runs("mine", "a", "9", "9Gi"), runs("shopping", "b", "9", "9Gi")), sdktest.Allow, ""},
		"pods of all its namespaces": {asking("2", ""), node(runs("shop", "a", "1", "0"), runs("shop-eu", "b", "1500m", "0")), sdktest.Hold, "cpu: 2500m used by other pods"},
		"more than can be counted":   {asking("9P", ""), node(runs("shop", "a", "9223372036854775807", "1"), runs("shop", "b", "1", "1")), sdktest.Hold, "cpu: "},
		"what asks nothing more":     {asking("", ""), node(runs("shop", "a", "9", "99Gi")), sdktest.Allow, ""},
	} {
		got := judge(t, usual, sdktest.Request{Pod: test.pod, Facts: test.node})
		if got.Answer != test.want || !strings.Contains(got.Message, test.say) {
			t.Errorf("%s: got %+v, want %s: %s", name, got, test.want, test.say)
		}
		if got.Answer == sdktest.Hold && (got.Code != "QuotaExceeded" || got.RetryAfter != 0) {
			t.Errorf("%s: code %s, retry after %s", name, got.Code, got.RetryAfter)
		}
	}
}

func TestAPodIsNotCountedTwice(t *testing.T) {
	full := node(runs("shop", "u", "2", "4Gi"), runs("shop", "a", "2", "4Gi"), runs("shop", "b", "0", "0"))
	for name, test := range map[string]struct {
		request sdktest.Request
		want    sdktest.Answer
	}{
		"an update that asks the same":       {sdktest.Request{Pod: asking("2", "4Gi"), Old: asking("2", "4Gi"), Facts: full}, sdktest.Allow},
		"an update that asks more":           {sdktest.Request{Pod: asking("2001m", "4Gi"), Old: asking("2", "4Gi"), Facts: full}, sdktest.Hold},
		"a successor that asks the same":     {sdktest.Request{Pod: renamed("new"), Old: asking("2", "4Gi"), Replaces: "u", Facts: full}, sdktest.Allow},
		"another pod":                        {sdktest.Request{Pod: renamed("new"), Facts: full}, sdktest.Hold},
		"a successor of a pod of others":     {sdktest.Request{Pod: renamed("new"), Old: asking("2", "4Gi"), Replaces: "other", Facts: full}, sdktest.Hold},
		"an update of what is over already":  {sdktest.Request{Pod: asking("3", "4Gi"), Old: asking("3", "4Gi"), Facts: node(runs("shop", "u", "3", "4Gi"), runs("shop", "a", "3", "1"))}, sdktest.Allow},
		"one that asks more of what is over": {sdktest.Request{Pod: asking("4", "4Gi"), Old: asking("3", "4Gi"), Facts: node(runs("shop", "u", "3", "4Gi"), runs("shop", "a", "3", "1"))}, sdktest.Hold},
	} {
		if got := judge(t, usual, test.request); got.Answer != test.want {
			t.Errorf("%s: got %+v, want %s", name, got, test.want)
		}
	}
}

// renamed returns a pod with another UID that requests 2 CPUs and 4 GiB.
func renamed(uid string) map[string]any {
	p := asking("2", "4Gi")
	p["metadata"] = map[string]any{"name": "web", "namespace": "shop", "uid": uid}
	return p
}

func TestPodsWithoutUIDAreDifferentPods(t *testing.T) {
	anonymous := renamed("")
	got := judge(t, usual, sdktest.Request{Pod: anonymous, Facts: node(runs("shop", "", "3", "1"))})
	if got.Answer != sdktest.Hold {
		t.Errorf("got %+v", got)
	}
}

func TestNobodyPassesWithoutFacts(t *testing.T) {
	got := judge(t, usual, sdktest.Request{Pod: asking("1", "")})
	if got.Answer != sdktest.Failed || !strings.Contains(got.Message, "says nothing of the pods on the node") {
		t.Errorf("got %+v", got)
	}
	if got := sdktest.LoadError(t, usual); !strings.Contains(got, `capability "node.read"`) {
		t.Errorf("without the capability: %q", got)
	}
}

func TestPodsWithoutAQuotaAreNotJudged(t *testing.T) {
	p := asking("99", "")
	p["metadata"] = map[string]any{"name": "web", "namespace": "else", "uid": "u"}
	if got := judge(t, usual, sdktest.Request{Pod: p, Facts: node()}); got.Answer != sdktest.Abstain {
		t.Errorf("got %+v", got)
	}
}

func TestTheEffectCanBeDeny(t *testing.T) {
	for effect, want := range map[string]sdktest.Answer{"hold": sdktest.Hold, "deny": sdktest.Deny} {
		got := judge(t, map[string]any{"effect": effect, "quota": usual["quota"]}, sdktest.Request{Pod: asking("5", ""), Facts: node()})
		if got.Answer != want || got.Code != "QuotaExceeded" || got.Message == "" {
			t.Errorf("%s: got %+v", effect, got)
		}
	}
}

func TestAQuotaIsForItsNamespaces(t *testing.T) {
	two := node(runs("team-a", "a", "1", "0"), runs("team-b", "b", "1", "0"))
	in := func(namespace string) sdktest.Request {
		p := asking("1", "")
		p["metadata"] = map[string]any{"name": "web", "namespace": namespace, "uid": "u"}
		return sdktest.Request{Pod: p, Facts: two}
	}
	for name, test := range map[string]struct {
		quota     map[string]any
		namespace string
		want      sdktest.Answer
	}{
		"its name is a namespace":         {map[string]any{"team-a": map[string]any{"cpu": "1"}}, "team-a", sdktest.Hold},
		"another one than the pod's":      {map[string]any{"team-a": map[string]any{"cpu": "1"}}, "team-b", sdktest.Abstain},
		"its name is a glob":              {map[string]any{"team-*": map[string]any{"cpu": "2"}}, "team-a", sdktest.Hold},
		"all together":                    {map[string]any{"*": map[string]any{"cpu": "2"}}, "other", sdktest.Hold},
		"each for itself":                 {map[string]any{"*": map[string]any{"cpu": "2", "each": true}}, "team-a", sdktest.Allow},
		"each for itself, and too much":   {map[string]any{"*": map[string]any{"cpu": "1", "each": true}}, "team-a", sdktest.Hold},
		"except some":                     {map[string]any{"*": map[string]any{"cpu": "0", "except": []string{"team-*"}}}, "team-a", sdktest.Abstain},
		"what is excepted does not count": {map[string]any{"*": map[string]any{"cpu": "2", "except": []string{"team-b"}}}, "team-a", sdktest.Allow},
		"every quota counts":              {map[string]any{"*": map[string]any{"cpu": "9"}, "team-a": map[string]any{"pods": 1}}, "team-a", sdktest.Hold},
		"none at all may be":              {map[string]any{"team-a": map[string]any{"pods": 0}}, "team-a", sdktest.Hold},
	} {
		if got := judge(t, map[string]any{"quota": test.quota}, in(test.namespace)); got.Answer != test.want {
			t.Errorf("%s: got %+v, want %s", name, got, test.want)
		}
	}
}

func TestTheExplanationNamesWhatCounts(t *testing.T) {
	got := judge(t, usual, sdktest.Request{
		Pod: asking("2", "1Gi"), Old: asking("2", "1Gi"), Facts: node(runs("shop", "u", "2", "1Gi"), runs("shop", "a", "3", "0")),
	})
	want := `quota "shop": cpu: 3 used by other pods, 2 asked, 4 allowed (no more than before); ` +
		"memory: 0 used by other pods, 1Gi asked, 8Gi allowed; pods: 1 used by other pods, 1 asked, 3 allowed"
	if got.Answer != sdktest.Allow || got.Explanation != want {
		t.Errorf("got %+v\nwant %s", got, want)
	}
}

func TestWhatIsSaidHasBounds(t *testing.T) {
	quotas := map[string]any{}
	for i := range 500 {
		quotas[fmt.Sprintf("quota-%d", i)] = map[string]any{"namespaces": []string{"*"}, "cpu": "1", "memory": "1", "pods": 0}
	}
	got := judge(t, map[string]any{"quota": quotas}, sdktest.Request{Pod: asking("2", "2Gi"), Facts: node()})
	if got.Answer != sdktest.Hold || len(got.Message) > 4<<10-1 || len(got.Explanation) > 4<<10 {
		t.Errorf("%s, %d bytes of message, %d of explanation", got.Answer, len(got.Message), len(got.Explanation))
	}
}

func TestManyPodsCanBeCounted(t *testing.T) {
	var pods []sdktest.NodePod
	for i := range 400 {
		pods = append(pods, runs("shop", fmt.Sprintf("%036d", i), "10m", "1073741825"))
	}
	got := judge(t, map[string]any{"quota": map[string]any{"shop": map[string]any{"cpu": "4"}}}, sdktest.Request{Pod: asking("1m", ""), Facts: node(pods...)})
	if got.Answer != sdktest.Hold || !strings.Contains(got.Message, "4 used by other pods, 1m asked") {
		t.Errorf("got %+v", got)
	}
}
