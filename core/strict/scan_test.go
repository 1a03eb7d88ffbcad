package strict

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestScanFindsTheLineOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		src  string
		want map[string]int
	}{
		"keys and tables": {
			"a = 1\n\n[t]\nb = 2\n[t.u]\nc = 3\n",
			map[string]int{"a": 1, "t": 3, "t.b": 4, "t.u": 5, "t.u.c": 6},
		},
		"each element of an array of tables": {
			"[[s]]\na = 1\n[[s]]\na = 2\n[s.t]\nb = 3\n[[s.l]]\n[[s.l]]\nc = 4\n",
			map[string]int{
				"s": 1, "s[0]": 1, "s[0].a": 2, "s[1]": 3, "s[1].a": 4, "s[1].t": 5, "s[1].t.b": 6,
				"s[1].l": 7, "s[1].l[0]": 7, "s[1].l[1]": 8, "s[1].l[1].c": 9,
			},
		},
		"dotted keys, with every table they imply": {
			"a . b = 1\na.c.d = 2\n",
			map[string]int{"a": 1, "a.b": 1, "a.c": 2, "a.c.d": 2},
		},
		"quoted keys": {
			"\"a.b\" = 1\n'c d'.\"\\u0065\" = 2\n\"\" = 3\n[\"x]#y\"]\nz = 4\n",
			map[string]int{`"a.b"`: 1, `"c d"`: 2, `"c d".e`: 2, `""`: 3, `"x]#y"`: 4, `"x]#y".z`: 5},
		},
		"inline tables and arrays over several lines": {
			"a = [ # one\n  1,\n\n  [2, 3], # ]\n]\nb = { c = 1, d.e = [\n{f = 2}] }\ng = 1\n",
			map[string]int{
				"a": 1, "a[0]": 2, "a[1]": 4, "a[1][0]": 4, "a[1][1]": 4,
				"b": 6, "b.c": 6, "b.d": 6, "b.d.e": 6, "b.d.e[0]": 7, "b.d.e[0].f": 7, "g": 8,
			},
		},
		"what follows strings that hold newlines, quotes and keys": {
			"a = \"\"\"\nx = 1\n\\\"\"\" y\"\"\"\"\"\nb = '''\n[t]\n''''\nc = \"# = \\\"\"\nd = '\\'\n",
			map[string]int{"a": 1, "b": 4, "c": 7, "d": 8},
		},
		"comments, dates, carriage returns and a byte order mark": {
			"\xef\xbb\xbf# x = 1\r\na = 1979-05-27 07:32:00 # y = 2\r\n\r\nb = -inf\r\n",
			map[string]int{"a": 2, "b": 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scan(test.src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			agreesWithDecoder(t, test.src)
		})
	}
}

func TestScanRefusesWhatTheDecoderWouldChokeOn(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"long keys":     "\n" + strings.Repeat("a", 100_000) + " = 1",
		"long paths":    "\n" + strings.Repeat("a.", 30) + strings.Repeat("b", 500) + " = 1",
		"arrays":        "\na = " + strings.Repeat("[", 100_000),
		"inline tables": "\n" + strings.Repeat("a={", 80_000),
		"dotted keys":   "\n" + strings.Repeat("a.", 100_000) + "a=1",
		"headers":       "\n[" + strings.Repeat("a.", 100_000) + "a]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := scan(src)
			if limit, ok := errors.AsType[*limitError](err); !ok || limit.line != 2 {
				t.Errorf("scan: %v, want a limit error of line 2", err)
			}
		})
	}
}

// FuzzScan compares the scanner with the decoder. For every document that the decoder accepts, both
// must find the same paths and agree on their lines.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"a = 1\n[t]\nb = '''\n'''\n[[s]]\nc.d = {e = [1,\n2]}\n[[s]]\n",
		"\"\\u00e4\" = \"\"\"\\\n \"\"\"\n'a' = 1e3 # x\n[ a2 . b ]\n",
		"a = [[], {b = {}}, \"]\"]\nc = 07:32:00\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(agreesWithDecoder)
}

func agreesWithDecoder(t *testing.T, src string) {
	t.Helper()
	lines, err := scan(src)
	var root map[string]any
	md, tomlErr := decodeTOML(src, &root)
	if tomlErr != nil || takenInError(src) {
		return
	}
	if _, ok := errors.AsType[*limitError](err); ok {
		return
	}
	if err != nil {
		t.Fatalf("scan stopped (%v) in a document the decoder takes", err)
	}
	want := map[string]bool{}
	paths("", root, want)
	got := slices.Sorted(maps.Keys(lines))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), got); diff != "" {
		t.Fatalf("paths (-decoder +scanner):\n%s", diff)
	}
	decoderLines(t, src, md, lines)
}

// takenInError reports whether src has an error that the decoder accepts: a string that ends in six
// quotes behind a backslash.
func takenInError(src string) bool { return strings.Contains(src, `\""""""`) }

// paths collects the paths of all values within v.
func paths(path string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			into[joinKey(path, key)] = true
			paths(joinKey(path, key), value, into)
		}
	case []map[string]any:
		for i, value := range v {
			into[joinIndex(path, i)] = true
			paths(joinIndex(path, i), value, into)
		}
	case []any:
		for i, value := range v {
			into[joinIndex(path, i)] = true
			paths(joinIndex(path, i), value, into)
		}
	}
}

// unreadable refuses every value, so that the decoder reports the line of the value.
type unreadable struct{}

func (*unreadable) UnmarshalText([]byte) error { return errors.New("refused") }

// decoderLines compares lines with the lines that the decoder reports. The decoder reports only the
// last line of a value, and only for plain values outside arrays.
func decoderLines(t *testing.T, src string, md toml.MetaData, lines map[string]int) {
	t.Helper()
	severalLines := strings.Contains(src, `"""`) || strings.Contains(src, "'''")
	for _, key := range md.Keys() {
		path := ""
		for _, part := range key {
			path = joinKey(path, part)
		}
		line, ok := lines[path]
		if !ok || key[len(key)-1] == "" {
			continue // within an array, or a key that the decoder confuses with another
		}
		parse, ok := errors.AsType[toml.ParseError](refuse(src, key))
		if !ok {
			continue // a table or an array
		}
		told := parse.Position.Line
		if line > told || line < told && !severalLines {
			t.Errorf("line of %s: %d, the decoder tells %d", path, line, told)
		}
	}
}

// refuse decodes the value of key in src as unreadable and returns the error.
func refuse(src string, key toml.Key) error {
	var table map[string]toml.Primitive
	md, err := toml.Decode(src, &table)
	for i, part := range key {
		if err != nil {
			return err
		}
		if i == len(key)-1 {
			return md.PrimitiveDecode(table[part], &unreadable{})
		}
		var inner map[string]toml.Primitive
		err = md.PrimitiveDecode(table[part], &inner)
		table = inner
	}
	return err
}
