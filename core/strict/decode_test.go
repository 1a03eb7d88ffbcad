package strict

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type document struct {
	Name    string         `toml:"name"`
	Level   slog.Level     `toml:"level"`
	Count   int            `toml:"count"`
	Small   uint8          `toml:"small"`
	Ratio   float64        `toml:"ratio"`
	On      bool           `toml:"on"`
	Wait    time.Duration  `toml:"wait"`
	Words   []string       `toml:"words"`
	Free    map[string]any `toml:"free"`
	Table   table          `toml:"table"`
	Pointer *table         `toml:"pointer"`
	Items   []item         `toml:"item"`
	Named   map[string]table
	ByName  map[string]table `toml:"by_name"`
}

type table struct {
	FirstKey  string `toml:"first_key"`
	SecondKey string `toml:"second_key"`
}

type item struct {
	Name string        `toml:"name"`
	Wait time.Duration `toml:"wait"`
}

func (i *item) SetDefaults() { i.Wait = time.Minute }

func TestDecodeFills(t *testing.T) {
	t.Parallel()
	got := document{Name: "kept", Count: 7, Table: table{SecondKey: "kept"}}
	err := Decode("d.toml", []byte(`
level = "warn"
count = 8
small = 255
ratio = 2
on = true
wait = "1h30m"
words = ["a", "b"]
free.x = { y = 1 }
table.first_key = "t"
[pointer]
first_key = "p"
[[item]]
name = "one"
[[item]]
wait = "0s"
[by_name."a.b"]
first_key = "m"
`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := document{
		Name: "kept", Level: slog.LevelWarn, Count: 8, Small: 255, Ratio: 2, On: true, Wait: 90 * time.Minute,
		Words: []string{"a", "b"}, Free: map[string]any{"x": map[string]any{"y": int64(1)}},
		Table: table{FirstKey: "t", SecondKey: "kept"}, Pointer: &table{FirstKey: "p"},
		Items:  []item{{Name: "one", Wait: time.Minute}, {}},
		ByName: map[string]table{"a.b": {FirstKey: "m"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestDecodeReports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ src, want string }{
		"a syntax error at its line": {
			"name = \"x\"\ncount = \n",
			`d.toml:2: expected value but found '\n' instead`,
		},
		"a key that stands twice": {
			"name = \"x\"\nname = \"y\"\n",
			"d.toml:2: Key 'name' has already been defined.",
		},
		"an unknown key and the nearest known one": {
			"\nnme = 1\n",
			`d.toml:2: nme: unknown key; did you mean "name"?`,
		},
		"an unknown key of a table, not of its neighbours": {
			"[table]\nfrist_key = 1\nname = 1\n",
			"d.toml:2: table.frist_key: unknown key; did you mean \"first_key\"?\n" +
				"d.toml:3: table.name: unknown key; known here are first_key, second_key",
		},
		"a key in another spelling": {
			"Name = 1\n[table]\nfirst-key = 1\n",
			"d.toml:1: Name: unknown key; did you mean \"name\"?\n" +
				"d.toml:3: table.first-key: unknown key; did you mean \"first_key\"?",
		},
		"an unknown table once, not each of its keys": {
			"[tabel]\na = 1\nb = 2\n",
			`d.toml:1: tabel: unknown key; did you mean "table"?`,
		},
		"the element of an array of tables that has the fault": {
			"[[item]]\nname = \"a\"\n[[item]]\nname = 1\n[[item]]\nnome = \"c\"\n",
			"d.toml:4: item.name: want a string, found the number 1\n" +
				"d.toml:6: item.nome: unknown key; did you mean \"name\"?",
		},
		"every wrong type": {
			"name = 1\ncount = \"1\"\nratio = true\non = 1979-05-27\nwords = \"a\"\ntable = [1]\nitem = 1\nfree = 1\n",
			"d.toml:1: name: want a string, found the number 1\n" +
				"d.toml:2: count: want an integer, found the string \"1\"\n" +
				"d.toml:3: ratio: want a number, found true\n" +
				"d.toml:4: on: want true or false, found a date\n" +
				"d.toml:5: words: want an array, found the string \"a\"\n" +
				"d.toml:6: table: want a table, found an array\n" +
				"d.toml:7: item: want an array of tables (write [[item]]), found the number 1\n" +
				"d.toml:8: free: want a table, found the number 1",
		},
		"a table where an array of tables is wanted": {
			"[item]\nname = \"a\"\n",
			"d.toml:1: item: want an array of tables (write [[item]]), found a table",
		},
		"an array of tables where a table is wanted": {
			"[[table]]\nfirst_key = \"a\"\n",
			"d.toml:1: table: want a table, found an array of tables",
		},
		"the element of an array": {
			"words = [\n\"a\",\n2,\n]\n",
			"d.toml:3: words: want a string, found the number 2",
		},
		"a number out of range": {
			"small = 256\n",
			"d.toml:1: small: 256 is out of range for uint8",
		},
		"a text its type refuses": {
			"level = \"loud\"\n",
			`d.toml:1: level: slog: level string "loud": unknown name`,
		},
		"a duration without a unit": {
			"wait = 20\n[[item]]\nwait = \"20\"\n",
			"d.toml:1: wait: want a duration such as \"20s\", \"500ms\" or \"1h30m\", found the number 20\n" +
				"d.toml:3: item.wait: want a duration such as \"20s\", \"500ms\" or \"1h30m\", found the string \"20\"",
		},
		"a duration that is too long": {
			"wait = \"99999999h\"\n",
			"d.toml:1: wait: want a duration of at most 2562047h0m0s, found the string \"99999999h\"",
		},
		"a document that is too large": {
			strings.Repeat("#", MaxSize+1),
			"d.toml: 262145 bytes long, more than the 262144 a document may have",
		},
		"a document that is too deep": {
			"\nfree = " + strings.Repeat("[", 40),
			"d.toml:2: nested deeper than 32 levels",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Decode("d.toml", []byte(test.src), &document{})
			if err == nil || err.Error() != test.want {
				t.Errorf("error:\n%v\nwant:\n%s", err, test.want)
			}
		})
	}
}

func TestDecodeReportsTheFirstTwentyFaults(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, "unknown-%d = 1\n", i)
	}
	err := Decode("d.toml", []byte(src.String()), &document{})
	errs, ok := err.(Errors) //nolint:errorlint // Decode returns it unwrapped
	if !ok || len(errs) != maxErrors || errs[0].Line != 1 || errs[19].Line != 20 {
		t.Errorf("errors: %v, want those of the lines 1 to 20", err)
	}
}

func TestChecksReportAtTheLineOf(t *testing.T) {
	t.Parallel()
	src := "[[item]]\nname = \"a\"\n[[item]]\nname = \"b\"\n[by_name.\"x.y\"]\n"
	for name, test := range map[string]struct{ path, want string }{
		"a key":                       {"item[1].name", "d.toml:4: item.name: bad 1"},
		"the table that lacks a key":  {"item[1].wait", "d.toml:3: item.wait: bad 1"},
		"a key within a quoted one":   {`by_name."x.y".first_key`, `d.toml:5: by_name."x.y".first_key: bad 1`},
		"no line, for a missing key":  {"name", "d.toml: name: bad 1"},
		"the document for no key":     {"", "d.toml: bad 1"},
		"no line, for a missing tree": {"table.first_key", "d.toml: table.first_key: bad 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Decode("d.toml", []byte(src), &document{}, func(report Report) { report(test.path, "bad %d", 1) })
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestChecksWaitForADocumentThatDecodes(t *testing.T) {
	t.Parallel()
	err := Decode("d.toml", []byte("nme = 1"), &document{}, func(Report) { t.Error("the check ran") })
	if err == nil {
		t.Error("no error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name = 1\n[[item]]\nwait = \"1\"\n[table]\nx = {y = [1, {z = 2}]}\n"))
	f.Add([]byte("[free.\"a.b\"]\nc = 1\n[by_name.\"\\\"\"]\nd = 1\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		err := Decode("d.toml", src, &document{})
		if err == nil {
			return
		}
		errs, ok := err.(Errors) //nolint:errorlint // Decode returns it unwrapped
		if !ok {
			t.Fatalf("error of type %T", err)
		}
		for _, e := range errs {
			if e.Line == 0 && len(src) <= MaxSize && !takenInError(string(src)) {
				t.Errorf("no line: %v", e)
			}
		}
	})
}

// The decoder of TOML ignores a byte order mark of UTF-16.
func TestDecode_namesAnotherEncoding(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfea = 1\n":                   "UTF-16, little-endian",
		"\xfe\xffa = 1\n":                   "UTF-16, big-endian",
		"\xff\xfea\x00 \x00=\x00 \x001\x00": "UTF-16, little-endian",
		"a\x00 \x00=\x00 \x001\x00\n\x00":   "UTF-16, little-endian",
	} {
		var into struct {
			A int `toml:"a"`
		}
		err := Decode("x.toml", []byte(text), &into)
		if want := "x.toml:1: the document is in " + want + "; save it as UTF-8"; err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
