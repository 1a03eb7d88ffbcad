package strict

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wardlet/wardlet/core/internal/charset"
	"github.com/wardlet/wardlet/core/internal/nearest"
)

// MaxSize is the maximum size of a document, in bytes.
const MaxSize = 256 << 10

// maxErrors is the maximum number of reported faults of one document.
const maxErrors = 20

// Report records a fault that only a check of the values finds. path is the path of the key, with
// the index of each array element, from 0: "sync.frequency", "source[1].name". If the document does
// not have the key, the fault is reported at the line of the table that lacks it.
type Report func(path, format string, args ...any)

// Defaulter sets the defaults of a new element of an array of tables, before the document's values
// are set.
type Defaulter interface{ SetDefaults() }

// Decode fills into, a pointer to a struct with toml tags, from data. Keys match tags exactly;
// durations are strings. Keys that are not in data keep their values. The checks run after
// everything was decoded. file is the name of the document in errors.
//
// The error is an Errors with all faults of the document: the first syntax error; or, without one,
// up to 20 faults of keys and types; or, without these, the faults that the checks report.
func Decode(file string, data []byte, into any, checks ...func(Report)) error {
	d := &decoder{file: file}
	if len(data) > MaxSize {
		d.add(0, "", fmt.Sprintf("%d bytes long, more than the %d a document may have", len(data), MaxSize))
		return d.errs.err()
	}
	if name := charset.Of(data); name != "" {
		d.add(1, "", fmt.Sprintf("the document is in %s; save it as UTF-8", name))
		return d.errs.err()
	}
	src := string(data)
	lines, err := scan(src)
	if limit, ok := errors.AsType[*limitError](err); ok {
		d.add(limit.line, "", limit.message)
		return d.errs.err()
	}
	d.lines = lines
	var root map[string]toml.Primitive
	d.md, err = decodeTOML(src, &root)
	if err != nil {
		line, message := 0, err.Error()
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			line, message = max(parse.Position.Line, 1), parse.Message
		}
		d.add(line, "", message)
		return d.errs.err()
	}
	d.fields("", root, reflect.ValueOf(into).Elem())
	if len(d.errs) == 0 {
		for _, check := range checks {
			check(func(path, format string, args ...any) { d.report(path, fmt.Sprintf(format, args...)) })
		}
	}
	return d.errs.err()
}

type decoder struct {
	file  string
	md    toml.MetaData
	lines map[string]int
	errs  Errors
}

func (d *decoder) add(line int, key, message string) {
	if len(d.errs) < maxErrors {
		d.errs = append(d.errs, Error{File: d.file, Line: line, Key: key, Message: message})
	}
}

// report adds a fault at the line of path, or of the nearest table around it.
func (d *decoder) report(path, message string) {
	line := d.lines[path]
	for end := len(path) - 1; end > 0 && line == 0; end-- {
		if path[end] == '.' || path[end] == '[' {
			line = d.lines[path[:end]]
		}
	}
	d.add(line, writtenPath(path), message)
}

// fields fills the struct v from a table.
func (d *decoder) fields(path string, table map[string]toml.Primitive, v reflect.Value) {
	known := map[string]int{}
	var names []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ",")
		if name != "" && name != "-" {
			known[name] = i
			names = append(names, name)
		}
	}
	for _, key := range d.ordered(path, table) {
		at := joinKey(path, key)
		if i, ok := known[key]; ok {
			d.value(at, table[key], v.Field(i))
			continue
		}
		if near, ok := nearest.Word(key, names); ok {
			d.report(at, fmt.Sprintf("unknown key; did you mean %q?", near))
		} else {
			d.report(at, "unknown key; known here are "+strings.Join(names, ", "))
		}
	}
}

// ordered returns the keys of a table in the order of their lines.
func (d *decoder) ordered(path string, table map[string]toml.Primitive) []string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if byLine := d.lines[joinKey(path, a)] - d.lines[joinKey(path, b)]; byLine != 0 {
			return byLine
		}
		return strings.Compare(a, b)
	})
	return keys
}

func (d *decoder) value(path string, from toml.Primitive, v reflect.Value) {
	if len(d.errs) == maxErrors {
		return
	}
	_, text := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
	switch {
	case text:
		d.leaf(path, from, v)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(path, from, v.Elem())
	case v.Kind() == reflect.Struct:
		if table, ok := d.table(path, from); ok {
			d.fields(path, table, v)
		}
	case v.Kind() == reflect.Map:
		d.entries(path, from, v)
	case v.Kind() == reflect.Slice:
		d.elements(path, from, v)
	default:
		d.leaf(path, from, v)
	}
}

// table returns the entries of a table. The TOML decoder itself would accept any value for a map
// and leave the map empty.
func (d *decoder) table(path string, from toml.Primitive) (table map[string]toml.Primitive, ok bool) {
	if _, ok := d.plain(from).(map[string]any); !ok {
		d.mismatch(path, from, "a table")
		return nil, false
	}
	return table, d.md.PrimitiveDecode(from, &table) == nil
}

// entries fills a map. Its keys may be any in the document.
func (d *decoder) entries(path string, from toml.Primitive, v reflect.Value) {
	table, ok := d.table(path, from)
	if !ok {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(table)))
	for _, key := range d.ordered(path, table) {
		entry := reflect.New(v.Type().Elem()).Elem()
		d.value(joinKey(path, key), table[key], entry)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), entry)
	}
}

func (d *decoder) elements(path string, from toml.Primitive, v reflect.Value) {
	var list []toml.Primitive
	if d.md.PrimitiveDecode(from, &list) != nil {
		want := "an array"
		if v.Type().Elem().Kind() == reflect.Struct {
			want = fmt.Sprintf("an array of tables (write [[%s]])", writtenPath(path))
		}
		d.mismatch(path, from, want)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i := range list {
		if element, ok := reflect.TypeAssert[Defaulter](v.Index(i).Addr()); ok {
			element.SetDefaults()
		}
		d.value(joinIndex(path, i), list[i], v.Index(i))
	}
}

func (d *decoder) leaf(path string, from toml.Primitive, v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d.duration(path, from, v)
		return
	}
	err := d.md.PrimitiveDecode(from, v.Addr().Interface())
	if err == nil {
		return
	}
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		d.report(path, parse.Message)
		return
	}
	want := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false",
		reflect.Float32: "a number", reflect.Float64: "a number",
	}[v.Kind()]
	if want == "" {
		want = "an integer"
	}
	d.mismatch(path, from, want)
}

// durationForm matches durations, including those that are too long.
var durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

// duration accepts strings only, because the TOML decoder would read a plain number as nanoseconds.
func (d *decoder) duration(path string, from toml.Primitive, v reflect.Value) {
	want := `a duration such as "20s", "500ms" or "1h30m"`
	text, _ := d.plain(from).(string)
	value, err := time.ParseDuration(text)
	if err != nil {
		if durationForm.MatchString(text) {
			want = "a duration of at most " + time.Duration(math.MaxInt64).Truncate(time.Hour).String()
		}
		d.mismatch(path, from, want)
		return
	}
	v.SetInt(int64(value))
}

func (d *decoder) mismatch(path string, from toml.Primitive, want string) {
	d.report(path, fmt.Sprintf("want %s, found %s", want, describe(d.plain(from))))
}

// plain returns a value as the TOML decoder reads it.
func (d *decoder) plain(from toml.Primitive) any {
	var v any
	_ = d.md.PrimitiveDecode(from, &v) // any value fits an any
	return v
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the string %.40q", v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "a date"
	case []map[string]any:
		return "an array of tables"
	case []any:
		return "an array"
	}
	return "a table"
}
