package settings_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// setup is the setup of the plugin under test.
var setup func() error

func init() {
	admit.Register(func() (admit.Policy, error) { return admit.Allow, setup() })
}

type rule struct {
	Name  string
	Ports []uint16
	Ratio float64
}

type config struct {
	Name       string
	On         bool
	MaxAge     int
	Small      int8
	Big        uint64
	Ratio      float64
	NodeIP     string
	Renamed    string `json:"x" setting:"other-name"`
	Ignored    string `setting:"-"`
	hidden     string
	Allow      []string
	Numbers    []int64
	Matrix     [][]bool
	Rules      []rule
	Nested     rule
	Limit      *int64
	Word       *string
	Flag       *bool
	Share      *float64
	Labels     map[string]string
	Counts     map[string]int64
	Groups     map[string][]string
	At         string
	Namespaces struct{ Deny []string }
}

func decode[T any](t *testing.T, into *T, table map[string]any) {
	t.Helper()
	setup = func() error { return settings.Decode(into) }
	sdktest.Load(t, table)
}

func TestSettingsGoIntoTheirFields(t *testing.T) {
	var got config
	limit, word, flag, share := int64(-9), "w", true, 0.25
	decode(t, &got, map[string]any{
		"name": "a \"quoted\" \\ / \b\f\n\r\t ü \u2028 <&> \U0001F600 \x01", "on": true, "max_age": -7, "small": -128, "big": 1 << 62, "ratio": 1.5,
		"node_ip": "1.2.3.4", "other-name": "r", "allow": []string{"a", "b"}, "numbers": []int{1, -2}, "matrix": []any{[]bool{true}, []bool{}},
		"rules":  []any{map[string]any{"name": "x", "ports": []int{1, 65535}, "ratio": 0.1}, map[string]any{}},
		"nested": map[string]any{"ratio": -2.5e-3}, "limit": limit, "word": word, "flag": flag, "share": share,
		"labels": map[string]string{"app.kubernetes.io/name": "x", "": "empty"},
		"counts": map[string]int{"a": 1}, "groups": map[string]any{"a": []string{"b"}},
		"at": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "namespaces": map[string]any{"deny": []string{"kube-system"}},
	})
	want := config{
		Name: "a \"quoted\" \\ / \b\f\n\r\t ü \u2028 <&> \U0001F600 \x01", On: true, MaxAge: -7, Small: -128, Big: 1 << 62, Ratio: 1.5,
		NodeIP: "1.2.3.4", Renamed: "r", Allow: []string{"a", "b"}, Numbers: []int64{1, -2}, Matrix: [][]bool{{true}, {}},
		Rules: []rule{{"x", []uint16{1, 65535}, 0.1}, {}}, Nested: rule{Ratio: -2.5e-3},
		Limit: &limit, Word: &word, Flag: &flag, Share: &share,
		Labels: map[string]string{"app.kubernetes.io/name": "x", "": "empty"},
		Counts: map[string]int64{"a": 1}, Groups: map[string][]string{"a": {"b"}}, At: "2026-01-02T03:04:05Z",
	}
	want.Namespaces.Deny = []string{"kube-system"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWhatIsNotSetStays(t *testing.T) {
	got := config{Name: "default", Allow: []string{"x"}, MaxAge: 3, hidden: "h", Nested: rule{Name: "n"}}
	decode(t, &got, map[string]any{"allow": []string{}, "nested": map[string]any{"ratio": 2.0}})
	want := config{Name: "default", Allow: []string{}, MaxAge: 3, hidden: "h", Nested: rule{Name: "n", Ratio: 2}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	decode(t, &got, nil)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("without settings: %+v", got)
	}
}

func TestWhatDoesNotFitIsRefusedByName(t *testing.T) {
	for what, test := range map[string]struct {
		table map[string]any
		want  string
	}{
		"a typing mistake":           {map[string]any{"alow": 1}, "there is no setting alow: did you mean allow?"},
		"one in a table":             {map[string]any{"nested": map[string]any{"port": []int{}}}, "there is no setting nested.port: did you mean nested.ports?"},
		"one in a list of tables":    {map[string]any{"rules": []any{map[string]any{}, map[string]any{"nam": 1}}}, "there is no setting rules[1].nam: did you mean rules[1].name?"},
		"the Go name of a field":     {map[string]any{"MaxAge": 1}, "there is no setting MaxAge: did you mean max_age?"},
		"a renamed field's own name": {map[string]any{"renamed": "x"}, "there is no setting renamed"},
		"a field that takes none":    {map[string]any{"ignored": "x"}, "there is no setting ignored"},
		"a field of its own":         {map[string]any{"hidden": "x"}, "there is no setting hidden"},
		"something else entirely":    {map[string]any{"zzzzzzzzzz": map[string]any{"a": []any{1, "]"}}}, "there is no setting zzzzzzzzzz"},
		"a key with other marks":     {map[string]any{"na me": 1}, "there is no setting ['na me']: did you mean name?"},
		"a number for a string":      {map[string]any{"name": 1}, "setting name must be a string, but it is an integer"},
		"a string for a bool":        {map[string]any{"on": "true"}, "setting on must be a bool, but it is a string"},
		"a float for an integer":     {map[string]any{"max_age": 1.5}, "setting max_age must be an integer, but it is a float"},
		"an integer beyond its type": {map[string]any{"small": 128}, "setting small must be from -128 to 127, but it is 128"},
		"a small one below zero":     {map[string]any{"small": -129}, "setting small must be from -128 to 127, but it is -129"},
		"one below its type":         {map[string]any{"big": -1}, "setting big must be from 0 to 18446744073709551615, but it is -1"},
		"a string for a list":        {map[string]any{"allow": "a"}, "setting allow must be a list of strings, but it is a string"},
		"a list of other things":     {map[string]any{"allow": []any{"a", 1}}, "setting allow[1] must be a string, but it is an integer"},
		"a list for a table":         {map[string]any{"nested": []any{1, []any{2}}}, "setting nested must be a table, but it is a list"},
		"a table for a list":         {map[string]any{"rules": map[string]any{"a": map[string]any{}}}, "setting rules must be a list of tables, but it is a table"},
		"a bool for a map":           {map[string]any{"labels": true}, "setting labels must be a table of strings, but it is a bool"},
		"another value in a map":     {map[string]any{"counts": map[string]any{"a": "1"}}, "setting counts.a must be an integer, but it is a string"},
		"several at once":            {map[string]any{"name": 1, "on": 2, "allow": []string{"x"}}, "setting name must be a string, but it is an integer; setting on must be a bool"},
		"a float with many digits in a list": {
			map[string]any{"rules": []any{map[string]any{"ratio": 0.30000000000000004}}}, "setting rules[0].ratio is 0.30000000000000004: a float in a list can have 15 digits",
		},
	} {
		var c config
		setup = func() error { return settings.Decode(&c) }
		if got := sdktest.LoadError(t, test.table); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

func TestTypesThatNothingGoesIntoAreNamed(t *testing.T) {
	for name, into := range map[string]func() error{
		"a channel":           func() error { return settings.Decode(&struct{ A chan int }{}) },
		"an interface":        func() error { return settings.Decode(&struct{ A any }{}) },
		"a pointer to tables": func() error { return settings.Decode(&struct{ A *rule }{}) },
		"a map of tables":     func() error { return settings.Decode(&struct{ A map[string]rule }{}) },
		"a map by numbers":    func() error { return settings.Decode(&struct{ A map[int]string }{}) },
		"a map of bools":      func() error { return settings.Decode(&struct{ A map[string]bool }{}) },
		"a map of small ints": func() error { return settings.Decode(&struct{ A map[string]int32 }{}) },
		"a list of pointers":  func() error { return settings.Decode(&struct{ A []*string }{}) },
		"an array":            func() error { return settings.Decode(&struct{ A [2]string }{}) },
		"half a float":        func() error { return settings.Decode(&struct{ A float32 }{}) },
	} {
		for _, value := range []any{1, "x", []any{"x"}, map[string]any{"x": "y"}} {
			setup = into
			if got := sdktest.LoadError(t, map[string]any{"a": value}); !strings.Contains(got, "setting a: the plugin wants it as") {
				t.Errorf("%s, %v: got %q", name, value, got)
			}
		}
	}
	setup = func() error { return settings.Decode(new(string)) }
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "wants a pointer to a struct") {
		t.Errorf("got %q", got)
	}
}

func TestFloatsAreExact(t *testing.T) {
	for _, want := range []float64{
		0, 1, -1, 0.1, 1.5, 123456789.25, 0.30000000000000004, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Pi, 1e21, 1e22, 1e23, 5e-324, -2.5e-3,
		9007199254740993, 1.7976931348623157e308, 123456789012345678,
	} {
		var c config
		decode(t, &c, map[string]any{"ratio": want, "nested": map[string]any{"ratio": want}})
		if c.Ratio != want || c.Nested.Ratio != want {
			t.Errorf("%v became %v and %v", want, c.Ratio, c.Nested.Ratio)
		}
	}
}

func TestTheWholeTableIsJSON(t *testing.T) {
	setup = func() error {
		table, err := settings.JSON()
		if string(table) != `{"a":[1,{"b":"c"}]}` {
			t.Errorf("got %s", table)
		}
		return err
	}
	sdktest.Load(t, map[string]any{"a": []any{1, map[string]any{"b": "c"}}})
}

func TestOnlyKnownSettingsPass(t *testing.T) {
	setup = func() error { return settings.Only("allow", "require_digest") }
	for _, table := range []map[string]any{nil, {}, {"allow": []any{1, map[string]any{"x": "]}"}}}, {"allow": 1, "require_digest": "x"}} {
		sdktest.Load(t, table)
	}
	for key, want := range map[string]string{
		"require_digests": "there is no setting require_digests: did you mean require_digest?", "Allow": "did you mean allow?",
		"x": "there is no setting x", "allow.x": "there is no setting ['allow.x']: did you mean allow?",
	} {
		if got := sdktest.LoadError(t, map[string]any{key: 1, "allow": 1}); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}
