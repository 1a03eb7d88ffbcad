package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func TestBadSettingsAreRefused(t *testing.T) {
	with := func(key string, value any) map[string]any {
		window := map[string]any{"from": "22:00", "to": "06:00"}
		window[key] = value
		return map[string]any{"windows": []any{window}}
	}
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"none":                      {nil, "settings.windows must list at least one window"},
		"no windows":                {map[string]any{"windows": []any{}}, "settings.windows must list at least one window"},
		"too many":                  {map[string]any{"windows": many(51)}, "settings.windows lists more than 50 windows"},
		"one window, no list":       {map[string]any{"windows": many(1)[0]}, "setting windows must be a list, but it is a table"},
		"a window that is a text":   {map[string]any{"windows": []any{"22:00-06:00"}}, "setting windows[0] must be a table, but it is a string"},
		"a window without an end":   {map[string]any{"windows": []any{map[string]any{"from": "22:00"}}}, "setting windows[0] needs from and to"},
		"no time at all":            {with("to", "22:00"), "setting windows[0] opens when it closes"},
		"a day of a longer name":    {with("days", []string{"monday"}), `setting windows[0].days has "monday": want mon, tue`},
		"no days":                   {with("days", []string{}), "setting windows[0].days must list at least one day"},
		"one day as a text":         {with("days", "mon"), "setting windows[0].days must be a list"},
		"an hour of one digit":      {with("from", "9:00"), `setting windows[0].from must be a time such as "22:00"`},
		"seconds":                   {with("from", "09:00:00"), "setting windows[0].from must be a time"},
		"no such minute":            {with("to", "09:60"), "setting windows[0].to must be a time"},
		"no such hour":              {with("to", "24:01"), "setting windows[0].to must be a time"},
		"a beginning at its end":    {with("from", "24:00"), "setting windows[0].from must be a time"},
		"letters":                   {with("from", "0a:00"), "setting windows[0].from must be a time"},
		"a time zone by name":       {with("utc_offset", "Europe/Berlin"), `setting windows[0].utc_offset must be an offset such as "+02:00"`},
		"an offset without a sign":  {with("utc_offset", "02:00"), "setting windows[0].utc_offset must be an offset"},
		"an offset out of reach":    {with("utc_offset", "+14:01"), "setting windows[0].utc_offset must be an offset"},
		"an empty offset":           {with("utc_offset", ""), "setting windows[0].utc_offset must be an offset"},
		"a typing mistake":          {with("form", "22:00"), "there is no setting windows[0].form: did you mean windows[0].from?"},
		"one outside of windows":    {usual(map[string]any{"urgent_lables": map[string]string{}}), "did you mean urgent_labels?"},
		"a change of nothing known": {usual(map[string]any{"allow_changes": []string{"image"}}), `setting allow_changes has "image": want labels`},
		"urgent as a list":          {usual(map[string]any{"urgent_labels": []string{"urgent"}}), "setting urgent_labels must be a table"},
		"an urgent value":           {usual(map[string]any{"urgent_labels": map[string]any{"urgent": true}}), "setting urgent_labels.urgent must be a string, but it is a bool"},
		"another way with clocks":   {usual(map[string]any{"unsynchronized": "drop"}), `setting unsynchronized must be "pass" or "defer", not "drop"`},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
	sdktest.Load(t, map[string]any{"windows": many(50)})
}

// many returns n windows that open every day.
func many(n int) (all []any) {
	for range n {
		all = append(all, map[string]any{"from": "00:00", "to": "24:00", "utc_offset": "-14:00"})
	}
	return all
}

// FuzzClock checks that accepted times are within a day, and accepted offsets within 14
// hours.
func FuzzClock(f *testing.F) {
	for _, seed := range []string{"00:00", "24:00", "23:59", "12:60", "+02:00", "-14:00", "1:00", "é0:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if time, ok := clock(text); ok && (time < 0 || time > day || time%minute != 0 || len(text) != 5) {
			t.Errorf("%q is the time %d", text, time)
		}
		if ahead, ok := offset(text); ok && (ahead < -14*hour || ahead > 14*hour || len(text) != 6) {
			t.Errorf("%q is the offset %d", text, ahead)
		}
	})
}
