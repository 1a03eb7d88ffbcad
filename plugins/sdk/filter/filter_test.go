package filter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	image    = sdk.Object("spec.containers[0].image")
	oldImage = sdk.OldObject("spec.containers[0].image")
	changed  = request.Changed()
	asked    = request.Hook()

	operation = request.Operation()
	replaces  = request.Replaces()
)

// policy is the policy of the plugin under test.
var policy Policy

func init() { Register(func() (Policy, error) { return policy, nil }) }

var update = sdktest.Request{
	Pod:     `{"spec": {"containers": [{"name": "a", "image": "new"}]}}`,
	Old:     `{"spec": {"containers": [{"name": "a", "image": "old"}]}}`,
	Changed: []string{request.Images},
}

func filter(t *testing.T, p Policy) sdktest.Result {
	t.Helper()
	policy = p
	return sdktest.Load(t, nil).Filter(t, update)
}

func TestAChangeHasBothVersions(t *testing.T) {
	got := filter(t, func() Verdict {
		if image.String() != "new" || oldImage.String() != "old" || !changed.Only(request.Images) || asked.Get() != "filter" {
			t.Error("another question than expected")
		}
		Warn("w")
		Annotate("k", "v")
		Explain("e")
		return Pass()
	})
	if got.Answer != sdktest.Pass || got.Explanation != "e" || len(got.Warnings) != 1 || got.Annotations["k"] != "v" {
		t.Errorf("got %+v", got)
	}
}

func TestReplacementsAreUpdatesAndNewPodsAreNot(t *testing.T) {
	var got []string
	policy = func() Verdict {
		got = append(got, operation.Get(), replaces.Get(), oldImage.String())
		return Pass()
	}
	p := sdktest.Load(t, nil)
	p.Filter(t, sdktest.Request{Pod: update.Pod, Old: update.Old, Replaces: "u", Changed: update.Changed})
	p.Filter(t, sdktest.Request{Pod: update.Pod})
	if want := []string{"UPDATE", "u", "old", "ADD", "", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerdictsArriveAsTheyWereGiven(t *testing.T) {
	for name, test := range map[string]struct {
		give Verdict
		want sdktest.Result
	}{
		"pass":                  {Pass(), sdktest.Result{Answer: sdktest.Pass}},
		"drop":                  {Drop(), sdktest.Result{Answer: sdktest.Drop}},
		"drop, and why":         {Drop().Because("Noise", "labels only"), sdktest.Result{Answer: sdktest.Drop, Code: "Noise", Message: "labels only"}},
		"defer":                 {Defer(90 * sdk.Second), sdktest.Result{Answer: sdktest.Defer, RetryAfter: 90 * time.Second}},
		"defer without a time":  {Defer(0), sdktest.Result{Answer: sdktest.Defer}},
		"defer to the past":     {Defer(-sdk.Hour), sdktest.Result{Answer: sdktest.Defer}},
		"defer, and why":        {Defer(sdk.Hour).Because("Night", ""), sdktest.Result{Answer: sdktest.Defer, RetryAfter: time.Hour, Code: "Night"}},
		"abstain":               {Abstain(), sdktest.Result{Answer: sdktest.Abstain}},
		"a pass needs no words": {Pass().Because("A", "b"), sdktest.Result{Answer: sdktest.Pass}},
		"a failure":             {Fail("no idea").Because("A", "b"), sdktest.Result{Answer: sdktest.Failed, Code: "PluginError", Message: "no idea"}},
	} {
		got := filter(t, func() Verdict { return test.give })
		if got.Answer != test.want.Answer || got.Code != test.want.Code || got.Message != test.want.Message || got.RetryAfter != test.want.RetryAfter {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestMisuseFailsTheCall(t *testing.T) {
	if got := filter(t, func() Verdict { return Verdict{} }); got.Answer != sdktest.Failed || !strings.Contains(got.Message, "no verdict") {
		t.Errorf("got %+v", got)
	}
	got := filter(t, func() Verdict {
		image.Int()
		return Pass()
	})
	if got.Answer != sdktest.Failed || !strings.Contains(got.Message, "is read as an integer") {
		t.Errorf("got %+v", got)
	}
}
