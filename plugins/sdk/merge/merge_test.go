package merge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/patch"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	source    = Source()
	kind      = Kind()
	document  = Document()
	running   = Running()
	restored  = Restored()
	firstSeen = FirstSeen()
	image     = Object("spec.containers[*].image").Lazy()
	oldName   = sdk.OldObject("metadata.name")
	newName   = sdk.Object("metadata.name")
	asked     = sdk.Request("hook")
	operation = sdk.Request("operation")
)

// policy is the policy of the plugin under test.
var policy Policy

func init() { Register(func() (Policy, error) { return policy, nil }) }

var two = sdktest.MergeRequest{Candidates: []sdktest.Candidate{
	{Pod: `{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}`, Source: "static", Document: "a.yaml#0"},
	{
		Pod: `{"metadata": {"name": "b"}}`, Source: "web", Kind: "http", Running: true, Restored: true,
		FirstSeen: time.UnixMilli(5),
	},
}}

func merge(t *testing.T, p Policy) sdktest.Result {
	t.Helper()
	policy = p
	return sdktest.Load(t, nil).Merge(t, two)
}

func TestCandidatesHaveTheirFields(t *testing.T) {
	got := merge(t, func() Verdict {
		if source.Len() != 2 || source.Of(0) != "static" || source.Of(1) != "web" || source.Of(2) != "" || source.Of(-1) != "" {
			t.Error("the sources are others")
		}
		if kind.Of(0) != "file" || kind.Of(1) != "http" || document.Of(0) != "a.yaml#0" || document.Of(1) == "" {
			t.Error("kinds or documents are others")
		}
		if running.Of(0) || !running.Of(1) || restored.Of(0) || !restored.Of(1) || firstSeen.Of(0) != 0 || firstSeen.Of(1) != 5 {
			t.Error("what runs is another")
		}
		if image.Of(0).At(0).String() != "x" || image.Of(1).Len() != 0 {
			t.Error("the images are others")
		}
		if newName.Exists() || oldName.String() != "b" || asked.String() != "merge" || operation.Exists() {
			t.Error("another question than expected")
		}
		return Abstain()
	})
	if got.Answer != sdktest.Abstain {
		t.Errorf("got %+v", got)
	}
}

func TestWholeCandidatesAreJSON(t *testing.T) {
	merge(t, func() Verdict {
		if got := string(JSON(1)); !strings.HasPrefix(got, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}`) {
			t.Errorf("got %s", got)
		}
		if JSON(2) != nil || JSON(-1) != nil || JSON(-16) != nil || sdk.ObjectJSON() != nil {
			t.Error("there are other documents")
		}
		if got := string(sdk.OldObjectJSON()); !strings.Contains(got, `"name":"b"`) {
			t.Errorf("old object %s", got)
		}
		return Abstain()
	})
}

func TestVerdictsArriveAsTheyWereGiven(t *testing.T) {
	for name, test := range map[string]struct {
		give Verdict
		want sdktest.Result
	}{
		"the first wins":  {Win(0), sdktest.Result{Answer: sdktest.Win}},
		"the second wins": {Win(1), sdktest.Result{Answer: sdktest.Win, Winner: 1}},
		"keep":            {KeepCurrent(), sdktest.Result{Answer: sdktest.KeepCurrent}},
		"reject":          {RejectAll("Conflict", "two"), sdktest.Result{Answer: sdktest.RejectAll, Code: "Conflict", Message: "two"}},
		"abstain":         {Abstain(), sdktest.Result{Answer: sdktest.Abstain}},
		"a failure":       {Fail("no idea"), sdktest.Result{Answer: sdktest.Failed, Code: "PluginError", Message: "no idea"}},
	} {
		got := merge(t, func() Verdict { return test.give })
		if got.Answer != test.want.Answer || got.Winner != test.want.Winner || got.Code != test.want.Code || got.Message != test.want.Message {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestVerdictsThatMeanNothingFail(t *testing.T) {
	for name, test := range map[string]struct {
		give Verdict
		code string
		want string
	}{
		"no such candidate": {Win(2), "BadOutput", "wardlet_merge answers 2"},
		"before the first":  {Win(-1), "PluginError", "candidate -1"},
		"beyond all":        {Win(1 << 40), "PluginError", "candidate 1099511627776"},
		"none":              {Verdict{}, "PluginError", "no verdict"},
	} {
		got := merge(t, func() Verdict { return test.give })
		if got.Answer != sdktest.Failed || got.Code != test.code || !strings.Contains(got.Message, test.want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	policy = KeepCurrent
	none := sdktest.MergeRequest{Candidates: two.Candidates[:1]}
	if got := sdktest.Load(t, nil).Merge(t, none); got.Answer != sdktest.Failed || got.Code != "BadOutput" {
		t.Errorf("what does not run is kept: %+v", got)
	}
}

func TestAPatchGoesWithTheWinner(t *testing.T) {
	change := func(v Verdict) Policy {
		return func() Verdict {
			Warn("w")
			Annotate("k", "v")
			Explain("e")
			PatchJSON([]byte(`[]`))
			Patch(patch.Remove("/spec/hostNetwork"))
			return v
		}
	}
	got := merge(t, change(Win(0)))
	if got.Patch != `[{"op":"remove","path":"/spec/hostNetwork"}]` || got.Explanation != "e" || len(got.Warnings) != 1 || got.Annotations["k"] != "v" {
		t.Errorf("got %+v", got)
	}
	if got := merge(t, change(KeepCurrent())); got.Patch != "" {
		t.Errorf("a patch of nothing: %+v", got)
	}
}

func TestRefusedSettingsSayWhy(t *testing.T) {
	before := plugin
	defer func() { plugin = before }()
	plugin.Setups = []func() (Policy, error){func() (Policy, error) { return nil, errors.New("rank is missing") }}
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "rank is missing") {
		t.Errorf("got %q", got)
	}
	plugin.Setups = nil
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "call merge.Register") {
		t.Errorf("got %q", got)
	}
}
