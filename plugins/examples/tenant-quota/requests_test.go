package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// initial returns an init container. With restart policy Always it is a sidecar.
func initial(cpu, restart string) map[string]any {
	c := container("i", cpu, "")
	if restart != "" {
		c["restartPolicy"] = restart
	}
	return c
}

func TestAPodRequestsWhatTheAPICounts(t *testing.T) {
	type list = []any
	main := list{container("a", "100m", ""), container("b", "200m", ""), container("c", "", "1Gi")}
	level := func(resource, amount string) map[string]any {
		return map[string]any{"requests": map[string]string{resource: amount}}
	}
	for name, test := range map[string]struct {
		spec map[string]any
		want string
	}{
		"nothing":                                     {map[string]any{"containers": list{container("a", "", "")}}, "0"},
		"containers together":                         {map[string]any{"containers": main}, "300m"},
		"a smaller init container":                    {map[string]any{"containers": main, "initContainers": list{initial("250m", "")}}, "300m"},
		"a larger one":                                {map[string]any{"containers": main, "initContainers": list{initial("250m", ""), initial("1", ""), initial("1", "")}}, "1"},
		"sidecars run with the others":                {map[string]any{"containers": main, "initContainers": list{initial("50m", "Always"), initial("60m", "Always")}}, "410m"},
		"an init container beside an earlier sidecar": {map[string]any{"containers": main, "initContainers": list{initial("50m", "Always"), initial("1", "")}}, "1050m"},
		"and before a later one":                      {map[string]any{"containers": main, "initContainers": list{initial("1", ""), initial("50m", "Always")}}, "1"},
		"a restart policy that is none of a sidecar":  {map[string]any{"containers": main, "initContainers": list{initial("1", "Never")}}, "1"},
		"the pod as a whole":                          {map[string]any{"containers": main, "resources": level("cpu", "250m")}, "250m"},
		"the whole of another resource":               {map[string]any{"containers": main, "resources": level("memory", "2Gi")}, "300m"},
		"a whole that is nothing":                     {map[string]any{"containers": main, "resources": level("cpu", "0")}, "0"},
		"with the overhead":                           {map[string]any{"containers": main, "overhead": map[string]string{"cpu": "7m"}}, "307m"},
		"overhead and whole":                          {map[string]any{"containers": main, "resources": level("cpu", "1"), "overhead": map[string]string{"cpu": "7m"}}, "1007m"},
		"limits are no requests":                      {map[string]any{"containers": list{map[string]any{"name": "a", "resources": map[string]any{"limits": map[string]string{"cpu": "5"}}}}}, "0"},
	} {
		p := asking("", "")
		p["spec"] = test.spec
		got := judge(t, usual, sdktest.Request{Pod: p, Facts: node()})
		if want := "cpu: 0 used by other pods, " + test.want + " asked, 4 allowed"; !strings.Contains(got.Explanation, want) {
			t.Errorf("%s: got %q, want %s", name, got.Explanation, want)
		}
	}
}

func TestAmountsThatAreNoneFailTheCall(t *testing.T) {
	beginning := asking("1", "")
	beginning["spec"] = map[string]any{"initContainers": []any{initial("-1", "")}}
	for name, r := range map[string]sdktest.Request{
		"of the pod":           {Pod: asking("-1", ""), Facts: node()},
		"of an init container": {Pod: beginning, Facts: node()},
		"of another pod":       {Pod: asking("1", ""), Facts: node(runs("shop", "a", "1", "-1"))},
	} {
		got := judge(t, usual, r)
		if got.Answer != sdktest.Failed || got.Message != `a pod requests "-1", which is no amount` {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestPodsThatDoNotCountMayRequestAnything(t *testing.T) {
	got := judge(t, usual, sdktest.Request{Pod: asking("1", ""), Facts: node(runs("else", "a", "-1", "many"))})
	if got.Answer != sdktest.Allow {
		t.Errorf("got %+v", got)
	}
}
