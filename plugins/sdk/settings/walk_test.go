package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// walk loads the plugin under test, whose setup passes each to Walk, and returns why the
// settings are refused.
func walk(t *testing.T, table map[string]any, each func(s *settings.Setting)) (refused string) {
	t.Helper()
	var err error
	setup = func() error {
		err = settings.Walk(each)
		return nil
	}
	sdktest.Load(t, table)
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestWalkReadsTablesAndListsInEachOther(t *testing.T) {
	var got []string
	refused := walk(t, map[string]any{
		"word": "a\"b\n", "on": true, "number": -7, "least": -1 << 63, "greatest": 1<<63 - 1,
		"list":   []any{map[string]any{"name": "x", "days": []string{"mon", "tue"}}, map[string]any{"name": "y", "skipped": []any{1, "two", map[string]any{}}}},
		"table":  map[string]any{"a": map[string]any{"pods": 3}, "b.c": map[string]any{"pods": 4}},
		"unread": map[string]any{"deep": []any{[]any{1}}},
		"nil":    []any{},
	}, func(s *settings.Setting) {
		switch s.Name {
		case "word":
			got = append(got, s.String())
		case "on":
			if !s.Bool() {
				t.Error("on is off")
			}
		case "number":
			if n := s.Int(); n != -7 {
				t.Errorf("number %d", n)
			}
		case "least", "greatest":
			if n := s.Int(); n != -1<<63 && n != 1<<63-1 {
				t.Errorf("%s %d", s.Name, n)
			}
		case "list":
			s.List(func(s *settings.Setting) {
				s.Table(func(s *settings.Setting) {
					switch s.Name {
					case "name":
						got = append(got, s.String())
					case "days":
						got = append(got, s.Strings()...)
					}
				})
			})
		case "table":
			s.Table(func(s *settings.Setting) {
				name := s.Name
				s.Table(func(s *settings.Setting) { got = append(got, name+strings.Repeat("!", int(s.Int()))) })
			})
		case "nil":
			if s.Strings() != nil {
				t.Error("an empty list has elements")
			}
		case "unread":
			got = append(got, s.Name)
		}
	})
	want := []string{"mon", "tue", "x", "y", "a!!!", "b.c!!!!", "unread", "a\"b\n"}
	if refused != "" || !slices.Equal(got, want) {
		t.Errorf("got %q, refused: %q", got, refused)
	}
}

func TestWalkNamesWhatDoesNotFit(t *testing.T) {
	rules := []any{map[string]any{"name": 1, "prots": []int{80}}, "none"}
	for what, test := range map[string]struct {
		table map[string]any
		want  string
	}{
		"a string":             {map[string]any{"word": 1}, "setting word must be a string, but it is an integer"},
		"a bool":               {map[string]any{"on": "true"}, "setting on must be a bool, but it is a string"},
		"an integer":           {map[string]any{"number": 1.0}, "setting number must be an integer, but it is a float"},
		"a list":               {map[string]any{"words": "a"}, "setting words must be a list, but it is a string"},
		"a list of strings":    {map[string]any{"words": []any{"a", true}}, "setting words[1] must be a string, but it is a bool"},
		"a table":              {map[string]any{"rules": []any{map[string]any{}, []any{}}}, "setting rules[1] must be a table, but it is a list"},
		"a typing mistake":     {map[string]any{"word": "a", "wrds": emptyTables()}, "there is no setting wrds: did you mean words?"},
		"one in a table":       {map[string]any{"rules": rules[:1]}, "setting rules[0].name must be a string, but it is an integer; there is no setting rules[0].prots: did you mean rules[0].ports?"},
		"one with a quoted ke": {map[string]any{"a b": 1}, "there is no setting ['a b']"},
		"several":              {map[string]any{"on": 1, "rules": rules}, "setting rules[1] must be a table, but it is a string"},
		"the plugin's own":     {map[string]any{"word": "bad"}, "setting word must be good"},
	} {
		got := walk(t, test.table, func(s *settings.Setting) {
			switch s.Name {
			case "word":
				if s.String() == "bad" {
					s.Refuse("must be good")
				}
			case "on":
				s.Bool()
			case "number":
				s.Int()
			case "words":
				s.Strings()
			case "rules":
				s.List(func(s *settings.Setting) {
					s.Table(func(s *settings.Setting) {
						switch s.Name {
						case "name":
							_ = s.String()
						default:
							s.Unknown("name", "ports")
						}
					})
				})
			default:
				s.Unknown("word", "on", "number", "words", "rules")
			}
		})
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

// emptyTables returns a list of two empty tables.
func emptyTables() []any { return []any{map[string]any{}, map[string]any{}} }

func TestThereMayBeNoSettingsToWalk(t *testing.T) {
	if got := walk(t, nil, func(s *settings.Setting) { t.Errorf("there is a setting %s", s.Name) }); got != "" {
		t.Errorf("refused: %s", got)
	}
}
