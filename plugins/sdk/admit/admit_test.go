package admit

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// registered registers the given setups for the duration of a test.
func registered(t *testing.T, all ...func() (Policy, error)) {
	t.Helper()
	before := plugin
	plugin.Setups = all
	t.Cleanup(func() { plugin = before })
}

// judging returns a setup for a policy without settings.
func judging(p Policy) func() (Policy, error) { return func() (Policy, error) { return p, nil } }

var request = sdktest.Request{Pod: `{"metadata": {"name": "web"}}`}

func TestVerdictsArriveAsTheyWereGiven(t *testing.T) {
	for name, test := range map[string]struct {
		give Verdict
		want sdktest.Result
	}{
		"allow":   {Allow(), sdktest.Result{Answer: sdktest.Allow}},
		"abstain": {Abstain(), sdktest.Result{Answer: sdktest.Abstain}},
		"deny":    {Deny("TooBig", "too big"), sdktest.Result{Answer: sdktest.Deny, Code: "TooBig", Message: "too big"}},
		"hold":    {Hold("TooEarly", "too early"), sdktest.Result{Answer: sdktest.Hold, Code: "TooEarly", Message: "too early"}},
		"hold for a time": {
			Hold("TooEarly", "").RetryAfter(90 * Second),
			sdktest.Result{Answer: sdktest.Hold, Code: "TooEarly", RetryAfter: 90 * time.Second},
		},
		"hold for less than no time":         {Hold("A", "").RetryAfter(-Hour), sdktest.Result{Answer: sdktest.Hold, Code: "A"}},
		"a time means nothing to a denial":   {Deny("A", "").RetryAfter(Hour), sdktest.Result{Answer: sdktest.Deny, Code: "A"}},
		"a failure":                          {Fail("no idea"), sdktest.Result{Answer: sdktest.Failed, Code: "PluginError", Message: "no idea"}},
		"a failure without a message":        {Fail(""), sdktest.Result{Answer: sdktest.Failed, Code: "PluginError"}},
		"a denial without code and message":  {Deny("", ""), sdktest.Result{Answer: sdktest.Deny}},
		"the last time counts":               {Hold("A", "").RetryAfter(Hour).RetryAfter(Minute), sdktest.Result{Answer: sdktest.Hold, Code: "A", RetryAfter: time.Minute}},
		"a time is given in milliseconds":    {Hold("A", "").RetryAfter(5 * Millisecond), sdktest.Result{Answer: sdktest.Hold, Code: "A", RetryAfter: 5 * time.Millisecond}},
		"a very long time is cut to one day": {Hold("A", "").RetryAfter(1000 * Hour), sdktest.Result{Answer: sdktest.Hold, Code: "A", RetryAfter: 24 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			registered(t, judging(func() Verdict { return test.give }))
			got := sdktest.Load(t, nil).Admit(t, request)
			if got.Answer != test.want.Answer || got.Code != test.want.Code || got.Message != test.want.Message ||
				got.RetryAfter != test.want.RetryAfter {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestAZeroVerdictIsNone(t *testing.T) {
	registered(t, judging(func() Verdict { return Verdict{}.RetryAfter(Second) }))
	got := sdktest.Load(t, nil).Admit(t, request)
	if got.Answer != sdktest.Failed || !strings.Contains(got.Message, "no verdict") {
		t.Errorf("got %+v", got)
	}
}

func TestVerdictsStandBesideEachOther(t *testing.T) {
	always := Hold("Always", "made in setup").RetryAfter(Minute)
	for want, choose := range map[string]func(all []Verdict) Verdict{
		"First": func(all []Verdict) Verdict { return all[0] }, "Second": func(all []Verdict) Verdict { return all[1] },
		"Always": func([]Verdict) Verdict { return always },
	} {
		registered(t, judging(func() Verdict { return choose([]Verdict{Deny("First", "1"), Hold("Second", "2").RetryAfter(Second)}) }))
		policy := sdktest.Load(t, nil)
		for range 2 {
			if got := policy.Admit(t, request); got.Code != want {
				t.Errorf("got %+v, want %s", got, want)
			}
		}
	}
}

func TestNotesArriveWithTheVerdict(t *testing.T) {
	registered(t, judging(func() Verdict {
		Warn("one")
		Warn("two")
		Annotate("k", "v")
		Annotate("k", "w")
		Annotate("l", "")
		Explain("first")
		Explain("second")
		return Allow()
	}))
	got := sdktest.Load(t, nil).Admit(t, request)
	if !slices.Equal(got.Warnings, []string{"one", "two"}) || got.Explanation != "second" ||
		!maps.Equal(got.Annotations, map[string]string{"k": "w", "l": ""}) {
		t.Errorf("got %+v", got)
	}
}

func TestNotesOfOneCallAreNotThoseOfTheNext(t *testing.T) {
	n := 0
	registered(t, judging(func() Verdict {
		if n++; n == 1 {
			Warn("w")
			Annotate("k", "v")
			Explain("e")
			return Deny("A", "m")
		}
		return Allow()
	}))
	p := sdktest.Load(t, nil)
	p.Admit(t, request)
	got := p.Admit(t, request)
	if len(got.Warnings)+len(got.Annotations) > 0 || got.Explanation+got.Code+got.Message != "" {
		t.Errorf("got %+v", got)
	}
}

func TestPluginsThatCannotBeLoadedSayWhy(t *testing.T) {
	ok := judging(Allow)
	for name, test := range map[string]struct {
		setups []func() (Policy, error)
		want   string
	}{
		"nothing registered": {nil, "call admit.Register"},
		"registered twice":   {[]func() (Policy, error){ok, ok}, "called twice"},
		"refused settings": {
			[]func() (Policy, error){func() (Policy, error) { return nil, errors.New("max must be positive") }},
			"max must be positive",
		},
		"neither policy nor error": {[]func() (Policy, error){judging(nil)}, "neither a policy nor an error"},
	} {
		t.Run(name, func(t *testing.T) {
			registered(t, test.setups...)
			if got := sdktest.LoadError(t, nil); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
		})
	}
}
