package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestSettingsReachThePluginInPlainTypes(t *testing.T) {
	t.Parallel()
	d, err := parse(minimal+`[settings]
text = "a"
on = true
whole = 7
broken = 7.0
zoned = 1979-05-27T00:32:00.5-07:00
utc = 1979-05-27T07:32:00Z
local = 1979-05-27T07:32:00
day = 1979-05-27
clock = 07:32:00.25
list = ["a", 1, [2.5]]
[settings.table]
inner = {x = 1979-05-27}
[[settings.rule]]
name = "one"
[[settings.rule]]
name = "two"
`, false)
	policytest.Must(t, err)
	want := map[string]any{
		"text": "a", "on": true, "whole": int64(7), "broken": 7.0,
		"zoned": "1979-05-27T00:32:00.5-07:00", "utc": "1979-05-27T07:32:00Z",
		"local": "1979-05-27T07:32:00", "day": "1979-05-27", "clock": "07:32:00.25",
		"list":  []any{"a", int64(1), []any{2.5}},
		"table": map[string]any{"inner": map[string]any{"x": "1979-05-27"}},
		"rule":  []any{map[string]any{"name": "one"}, map[string]any{"name": "two"}},
	}
	if diff := cmp.Diff(want, d.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// checkPlain fails if a value has a type that plugins do not support.
func checkPlain(t *testing.T, value any) {
	t.Helper()
	switch value := value.(type) {
	case string, bool, int64, float64:
	case []any:
		for _, v := range value {
			checkPlain(t, v)
		}
	case map[string]any:
		for _, v := range value {
			checkPlain(t, v)
		}
	default:
		t.Errorf("a setting is of type %T", value)
	}
}
