package main

import (
	"maps"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// usual returns settings that let changes pass in the nights to Tuesday and to Wednesday,
// and adds more to them.
func usual(more map[string]any) map[string]any {
	settings := map[string]any{"windows": []any{map[string]any{
		"days": []string{"mon", "tue"}, "from": "22:00", "to": "06:00", "utc_offset": "+02:00",
	}}}
	maps.Copy(settings, more)
	return settings
}

// at returns a time in the week that begins on Monday, 5 January 2026. Day 1 is Monday.
func at(day, hour, minute int) time.Time {
	return time.Date(2026, time.January, 4+day, hour, minute, 0, 0, time.UTC)
}

// noon is outside of all windows.
var noon = at(1, 12, 0)

const pod = `{"metadata": {"name": "web", "labels": {"app": "web", "urgency": "high"}, "annotations": {"example.org/ticket": "T-1"}}}`

func change(when time.Time, words ...string) sdktest.Request {
	return sdktest.Request{Pod: pod, Old: pod, Time: when, Changed: words}
}

func judge(t *testing.T, settings map[string]any, r sdktest.Request) sdktest.Result {
	t.Helper()
	return sdktest.Load(t, settings).Filter(t, r)
}

func TestChangesPassInTheirWindowsOnly(t *testing.T) {
	for name, test := range map[string]struct {
		when time.Time
		want time.Duration // 0: it passes
	}{
		"before":              {at(1, 19, 59), time.Minute},
		"a millisecond early": {at(1, 20, 0).Add(-time.Millisecond), time.Millisecond},
		"at the opening":      {at(1, 20, 0), 0},
		"after midnight":      {at(2, 1, 0), 0},
		"at the last moment":  {at(2, 4, 0).Add(-time.Millisecond), 0},
		"at the closing":      {at(2, 4, 0), 16 * time.Hour},
		"in the second night": {at(3, 3, 0), 0},
		"on Sunday":           {at(0, 21, 0), 23 * time.Hour},
	} {
		got := judge(t, usual(nil), change(test.when, request.Images))
		switch {
		case test.want == 0:
			if got.Answer != sdktest.Pass || got.Explanation != "a window is open" {
				t.Errorf("%s: %+v", name, got)
			}
		case got.Answer != sdktest.Defer || got.RetryAfter != test.want || got.Code != "OutsideChangeWindow":
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

func TestTheReasonNamesTheOpening(t *testing.T) {
	got := judge(t, usual(nil), change(noon, request.Images))
	want := "changes wait for the window that opens on mon 2026-01-05 22:00 +02:00"
	if got.Message != want || got.Explanation != want || got.RetryAfter != 8*time.Hour {
		t.Errorf("got %+v, want %s", got, want)
	}
	west := usual(map[string]any{"windows": []any{map[string]any{"days": []string{"sat"}, "from": "01:30", "to": "24:00", "utc_offset": "-03:30"}}})
	got = judge(t, west, change(at(6, 4, 0), request.Spec))
	if want := "changes wait for the window that opens on sat 2026-01-10 01:30 -03:30"; got.Message != want || got.RetryAfter != time.Hour {
		t.Errorf("got %+v, want %s", got, want)
	}
}

func TestSomeChangesPassAtAnyTime(t *testing.T) {
	deferred, passed := sdktest.Defer, sdktest.Pass
	for name, test := range map[string]struct {
		settings map[string]any
		request  sdktest.Request
		want     sdktest.Answer
	}{
		"an image":                        {nil, change(noon, request.Images), deferred},
		"labels, where nothing is set":    {nil, change(noon, request.Labels), deferred},
		"what may change":                 {map[string]any{"allow_changes": []string{"labels", "annotations"}}, change(noon, request.Labels), passed},
		"all of what may change":          {map[string]any{"allow_changes": []string{"labels", "annotations"}}, change(noon, request.Labels, request.Annotations), passed},
		"more than what may":              {map[string]any{"allow_changes": []string{"labels"}}, change(noon, request.Labels, request.Images), deferred},
		"nothing that matters":            {nil, change(noon), passed},
		"a new pod":                       {nil, sdktest.Request{Pod: pod, Time: noon}, passed},
		"a replacement":                   {nil, sdktest.Request{Pod: pod, Old: pod, Replaces: "u", Time: noon}, deferred},
		"a replacement of what may":       {map[string]any{"allow_changes": []string{"labels"}}, sdktest.Request{Pod: pod, Old: pod, Replaces: "u", Time: noon, Changed: []string{request.Labels}}, passed},
		"an update of nobody knows what":  {nil, sdktest.Request{Pod: pod, Operation: sdktest.Update, Time: noon}, deferred},
		"an urgent label":                 {map[string]any{"urgent_labels": map[string]string{"urgency": "high"}}, change(noon, request.Images), passed},
		"a label of another value":        {map[string]any{"urgent_labels": map[string]string{"urgency": "h"}}, change(noon, request.Images), deferred},
		"a label of any value":            {map[string]any{"urgent_labels": map[string]string{"urgency": "*"}}, change(noon, request.Images), passed},
		"one of several labels":           {map[string]any{"urgent_labels": map[string]string{"a": "b", "urgency": "h*"}}, change(noon, request.Images), passed},
		"an urgent annotation":            {map[string]any{"urgent_annotations": map[string]string{"example.org/ticket": "T-*"}}, change(noon, request.Images), passed},
		"an annotation that is no label":  {map[string]any{"urgent_labels": map[string]string{"example.org/ticket": "*"}}, change(noon, request.Images), deferred},
		"an urgent pod before the change": {map[string]any{"urgent_labels": map[string]string{"urgency": "high"}}, sdktest.Request{Pod: `{"metadata": {"name": "web"}}`, Old: pod, Time: noon, Changed: []string{request.Labels}}, deferred},
	} {
		got := judge(t, usual(test.settings), test.request)
		if got.Answer != test.want || got.Explanation == "" {
			t.Errorf("%s: got %+v, want %s", name, got, test.want)
		}
	}
}

func TestAClockThatMayBeWrongOpensNoWindow(t *testing.T) {
	for does, want := range map[string]sdktest.Answer{"": sdktest.Defer, "defer": sdktest.Defer, "pass": sdktest.Pass} {
		settings := usual(nil)
		if does != "" {
			settings["unsynchronized"] = does
		}
		// At noon, and within the window.
		for _, when := range []time.Time{noon, at(1, 21, 0)} {
			r := change(when, request.Images)
			r.ClockUnsynchronized = true
			got := judge(t, settings, r)
			if got.Answer != want || got.Answer == sdktest.Defer && (got.Code != "ClockUnsynchronized" || got.RetryAfter != time.Minute) {
				t.Errorf("%q at %s: %+v", does, when, got)
			}
		}
		urgent := change(noon, request.Images)
		urgent.ClockUnsynchronized = true
		settings["urgent_labels"] = map[string]string{"urgency": "high"}
		if got := judge(t, settings, urgent); got.Answer != sdktest.Pass {
			t.Errorf("%q, what is urgent: %+v", does, got)
		}
	}
}
