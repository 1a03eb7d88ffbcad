package sdktest_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	images    = sdk.Object("spec.containers[*].image")
	oldImages = sdk.OldObject("spec.containers[*].image")
	operation = sdk.Request("operation")
	source    = sdk.Request("source")
	document  = sdk.Request("document")
	replaces  = sdk.Request("replaces")
	node      = sdk.Request("node")
	when      = sdk.Request("time")
)

// policy is the policy of the plugin under test. calls counts the calls of its setup.
var (
	policy admit.Policy
	setups int
)

func init() {
	admit.Register(func() (admit.Policy, error) {
		setups++
		if _, bad := sdk.BoolSetting("bad"); bad {
			return nil, errors.New("bad settings")
		}
		return policy, nil
	})
}

func doing(do func()) admit.Policy {
	return func() admit.Verdict {
		do()
		return admit.Allow()
	}
}

func TestARequestHasDefaults(t *testing.T) {
	policy = doing(func() {
		if operation.String() != sdktest.Add || replaces.Exists() || source.String() == "" || document.String() == "" ||
			node.String() == "" || when.Int() == 0 || oldImages.Exists() {
			t.Error("another request than expected")
		}
	})
	sdktest.Load(t, nil).Admit(t, sdktest.Request{Pod: `{}`})
}

func TestARequestSaysWhatThePolicySees(t *testing.T) {
	policy = doing(func() {
		if operation.String() != sdktest.Add || replaces.String() != "u" || source.String() != "s" || document.String() != "d" ||
			node.String() != "n" || when.Int() != 5000 || !oldImages.Exists() {
			t.Error("another request than expected")
		}
	})
	got := sdktest.Load(t, nil).Admit(t, sdktest.Request{
		Pod: `{}`, Old: []byte(`{"spec": {"containers": []}}`), Replaces: "u", Source: "s", Document: "d", Node: "n", Time: time.Unix(5, 0),
	})
	if got.Answer != sdktest.Allow {
		t.Errorf("got %+v", got)
	}
}

func TestAChangedPodIsAnUpdate(t *testing.T) {
	policy = doing(func() {
		if got := operation.String(); got != sdktest.Update {
			t.Errorf("got %s", got)
		}
	})
	p := sdktest.Load(t, nil)
	p.Admit(t, sdktest.Request{Pod: `{}`, Old: `{}`})
	p.Admit(t, sdktest.Request{Pod: `{}`, Operation: sdktest.Update})
}

// recorder is a testing.TB that records how a test failed.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatal(args ...any) { r.fail(args[0]) }

func (r *recorder) Fatalf(_ string, args ...any) { r.fail(args[0]) }

func (r *recorder) Errorf(_ string, args ...any) { r.failed = args[0].(string) }

func (r *recorder) fail(why any) {
	switch why := why.(type) {
	case error:
		r.failed = why.Error()
	case string:
		r.failed = why
	}
	panic(r)
}

// caught runs do as a test, and returns the error with which the test failed, empty if it
// passed.
func caught(t *testing.T, do func(r *recorder)) (failed string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if value := recover(); value == nil || value == r {
			failed = r.failed
		} else {
			panic(value)
		}
	}()
	do(r)
	return r.failed
}

func TestRequestsTheAgentCouldNotSendFailTheTest(t *testing.T) {
	policy = admit.Allow
	p := sdktest.Load(t, nil)
	for what, test := range map[string]struct {
		request sdktest.Request
		want    string
	}{
		"no pod":                  {sdktest.Request{}, "the pod is missing"},
		"no JSON":                 {sdktest.Request{Pod: `{`}, "Pod is no JSON"},
		"two pods":                {sdktest.Request{Pod: `{} {}`}, "more after the pod"},
		"null":                    {sdktest.Request{Pod: `null`}, "Pod is null"},
		"what cannot be JSON":     {sdktest.Request{Pod: func() {}}, "unsupported type"},
		"a field that is none":    {sdktest.Request{Pod: `{"spec": {"container": []}}`}, "Pod.spec.container: there is no such field"},
		"an old pod that is none": {sdktest.Request{Pod: `{}`, Old: `{"x": 1}`}, "Old.x"},
		"another operation":       {sdktest.Request{Pod: `{}`, Operation: "DELETE"}, "want ADD or UPDATE"},
		"a UID without its pod":   {sdktest.Request{Pod: `{}`, Replaces: "u"}, "Old must be the pod"},
	} {
		got := caught(t, func(r *recorder) { p.Admit(r, test.request) })
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", what, got, test.want)
		}
	}
}

func TestLoadFailsTheTestWhereTheAgentRefuses(t *testing.T) {
	policy = admit.Allow
	if got := caught(t, func(r *recorder) { sdktest.Load(r, map[string]any{"bad": true}) }); !strings.Contains(got, "bad settings") {
		t.Errorf("got %q", got)
	}
	if got := caught(t, func(r *recorder) { sdktest.LoadError(r, nil) }); !strings.Contains(got, "should have been refused") {
		t.Errorf("got %q", got)
	}
	if got := sdktest.LoadError(t, map[string]any{"a": map[string]any{"b": []any{make(chan int)}}}); !strings.Contains(got, "settings.a.b[0]") {
		t.Errorf("got %q", got)
	}
}

func TestACodeIsOneWordInCamelCase(t *testing.T) {
	for code, good := range map[string]bool{
		"": true, "A": true, "ImageNotAllowed": true, "Http2Off": true,
		"imageNotAllowed": false, "Image not allowed": false, "IMAGE_NO": false, "2Big": true,
	} {
		policy = func() admit.Verdict { return admit.Deny(code, "") }
		p := sdktest.Load(t, nil)
		if got := caught(t, func(r *recorder) { p.Admit(r, sdktest.Request{Pod: `{}`}) }); (got == "") != good {
			t.Errorf("%q: test failed with %q", code, got)
		}
	}
}

func TestEveryCallFindsTheStateAfterSetup(t *testing.T) {
	policy = admit.Allow
	p := sdktest.Load(t, nil)
	before := setups
	p.Admit(t, sdktest.Request{Pod: `{}`})
	p.Admit(t, sdktest.Request{Pod: `{}`})
	if setups != before+2 {
		t.Errorf("setup ran %d times for two calls", setups-before)
	}
}

func TestTheAgentsLimitsHold(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	for what, test := range map[string]struct {
		do   func()
		want string
	}{
		"too much text": {func() { admit.Explain(text(40 << 10)); admit.Explain(text(40 << 10)) }, "more than 65536 bytes"},
		"too many warnings": {func() {
			for range 65 {
				admit.Warn("w")
			}
		}, "more than 64 warnings"},
		"too many annotations": {func() {
			for i := range 65 {
				admit.Annotate(text(i+1), "")
			}
		}, "more than 64 annotations"},
		"a key that is empty": {func() { admit.Annotate("", "v") }, "a key of 0 bytes"},
		"a key that is long":  {func() { admit.Annotate(text(254), "v") }, "a key of 254 bytes"},
	} {
		policy = doing(test.do)
		got := sdktest.Load(t, nil).Admit(t, sdktest.Request{Pod: `{}`})
		want := strings.ReplaceAll(test.want, "a key", "an annotation's key")
		if got.Answer != sdktest.Failed || got.Code != "BadOutput" || !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	policy = func() admit.Verdict { return admit.Deny("X"+text(100), text(4095)+"ü"+"\xff") }
	got := sdktest.Load(t, nil).Admit(t, sdktest.Request{Pod: `{}`})
	if len(got.Code) != 64 || got.Message != text(4095) {
		t.Errorf("a long reason is not cut between characters: %d and %d bytes", len(got.Code), len(got.Message))
	}
}

func TestAPodTooLargeForThePluginIsAFailure(t *testing.T) {
	policy = admit.Allow
	pod := `{"spec": {"containers": [{"image": "` + strings.Repeat("x", 70<<10) + `"}]}}`
	if got := sdktest.Load(t, nil).Admit(t, sdktest.Request{Pod: pod}); got.Answer != sdktest.Failed || got.Code != "InputTooLarge" {
		t.Errorf("got %+v", got)
	}
}

func TestAPanicOfThePolicyIsTheTestsOwn(t *testing.T) {
	policy = doing(func() { panic("oh") })
	p := sdktest.Load(t, nil)
	defer func() {
		if value := recover(); value != "oh" {
			t.Errorf("recovered %v", value)
		}
		policy = admit.Allow
		p.Admit(t, sdktest.Request{Pod: `{}`})
	}()
	p.Admit(t, sdktest.Request{Pod: `{}`})
}

func TestCallsFromSeveralGoroutinesWaitForEachOther(t *testing.T) {
	policy = func() admit.Verdict {
		for image := range images.Strings() {
			return admit.Deny("A", image)
		}
		return admit.Allow()
	}
	p := sdktest.Load(t, nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			image := strings.Repeat("x", i)
			got := p.Admit(t, sdktest.Request{Pod: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": image}}}}})
			if got.Message != image {
				t.Errorf("got %+v, want %s", got, image)
			}
		})
	}
	all.Wait()
}

func TestMoreRequestsTheAgentCouldNotSendFailTheTest(t *testing.T) {
	policy = admit.Allow
	p := sdktest.Load(t, nil)
	candidate := sdktest.Candidate{Pod: `{}`}
	for what, test := range map[string]struct {
		ask  func(r *recorder)
		want string
	}{
		"a change that is none":        {admitting(p, sdktest.Request{Pod: `{}`, Old: `{}`, Changed: []string{"image"}}), `nothing changes "image"`},
		"a new pod that changes":       {admitting(p, sdktest.Request{Pod: `{}`, Changed: []string{"images"}}), "only updates change something"},
		"a source of no kind":          {admitting(p, sdktest.Request{Pod: `{}`, Kind: "ftp"}), `a source of the kind "ftp"`},
		"a new pod with an old one":    {func(r *recorder) { p.Filter(r, sdktest.Request{Pod: `{}`, Old: `{}`, Operation: "ADD"}) }, "leave Old out"},
		"a hook that it does not have": {func(r *recorder) { p.Filter(r, sdktest.Request{Pod: `{}`, Old: `{}`}) }, "does not import package filter"},
		"no candidates":                {merging(p), "there is no candidate"},
		"a candidate without a pod":    {merging(p, candidate, sdktest.Candidate{}), "Candidates[1] has no pod"},
		"a candidate that is none":     {merging(p, sdktest.Candidate{Pod: `{"x": 1}`}), "Candidates[0].Pod.x"},
		"a candidate of no kind":       {merging(p, sdktest.Candidate{Pod: `{}`, Kind: "x"}), `Candidates[0]: a source of the kind "x"`},
		"two that run": {
			merging(p, sdktest.Candidate{Pod: `{}`, Running: true}, sdktest.Candidate{Pod: `{}`, Running: true}), "Candidates[1] runs, and so does another",
		},
		"a merge that it does not do": {merging(p, candidate), "does not import package merge"},
	} {
		if got := caught(t, test.ask); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", what, got, test.want)
		}
	}
}

func admitting(p *sdktest.Policy, q sdktest.Request) func(r *recorder) {
	return func(r *recorder) { p.Admit(r, q) }
}

func merging(p *sdktest.Policy, candidates ...sdktest.Candidate) func(r *recorder) {
	return func(r *recorder) { p.Merge(r, sdktest.MergeRequest{Candidates: candidates}) }
}
