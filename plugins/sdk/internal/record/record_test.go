package record

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// sample returns a record with a field of every kind.
func sample() []byte {
	var w Writer
	w.Begin(8)
	for handle, write := range []func(){
		w.Missing,
		func() { w.String("nginx") },
		func() { w.Bool(true) },
		func() { w.Int(-7) },
		func() { w.Float(1.5) },
		func() {
			w.List(3, func(i int) {
				switch i {
				case 0:
					w.String("a")
				case 1:
					w.Missing()
				default:
					w.List(1, func(int) { w.Int(80) })
				}
			})
		},
		func() { w.Map(map[string]string{"b": "2", "a": "1", "": ""}) },
		func() { w.JSON([]byte(`{"x":1}`)) },
	} {
		w.Field(handle)
		write()
	}
	return w.Out
}

// parse parses a record whose fields have the handles from 0, without the handles whose bit
// is set in lazy.
func parse(text string, fields int, lazy uint64) ([]Value, error) {
	var index Index
	var handles []uint16
	for handle := range fields {
		if lazy>>handle&1 == 0 {
			handles = append(handles, uint16(handle))
		}
	}
	err := index.Parse(text, handles)
	values := make([]Value, fields)
	for handle := range values {
		values[handle] = *index.Of(uint(handle))
	}
	return values, err
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	fields, err := parse(string(sample()), 8, 0)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range Missing + 8 {
		if fields[kind].Kind() != kind {
			t.Errorf("field %d is %v, want %v", kind, fields[kind].Kind(), kind)
		}
	}
	if got := fields[String].Text(); got != "nginx" {
		t.Errorf("string: %q", got)
	}
	if !fields[Bool].Bool() {
		t.Error("bool: false")
	}
	if got := fields[Int].Int(); got != -7 {
		t.Errorf("int: %d", got)
	}
	if got := fields[JSON].Text(); got != `{"x":1}` {
		t.Errorf("JSON: %q", got)
	}
	elements := slices.Collect(fields[List].Elements())
	if len(elements) != 3 || fields[List].Len() != 3 || elements[0].Text() != "a" || elements[1].Kind() != Missing {
		t.Fatalf("list: %v", elements)
	}
	for element := range elements[2].Elements() {
		if element.Int() != 80 {
			t.Errorf("nested list: %v", element)
		}
	}
	want := map[string]string{"b": "2", "a": "1", "": ""}
	if got := maps.Collect(fields[Map].Entries()); !maps.Equal(got, want) || fields[Map].Len() != 3 {
		t.Errorf("map: %v", got)
	}
	var keys []string
	for key := range fields[Map].Entries() {
		keys = append(keys, key)
	}
	if !slices.Equal(keys, []string{"", "a", "b"}) {
		t.Errorf("keys of the map are not sorted: %q", keys)
	}
}

func TestIterationCanStop(t *testing.T) {
	fields, err := parse(string(sample()), 8, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range fields[List].Elements() {
		n++
		break
	}
	for range fields[Map].Entries() {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d rounds, want one of each", n)
	}
}

func TestMalformedRecordsAreRefused(t *testing.T) {
	whole := string(sample())
	text := func(kind Kind, data string) string {
		return string([]byte{byte(kind), byte(len(data)), 0, 0, 0}) + data
	}
	one := func(value string) string { return "\x01\x00\x00\x00" + value }
	tests := map[string]struct {
		text   string
		fields int
	}{
		"nothing at all":               {"", 0},
		"fewer fields than declared":   {whole, 9},
		"more fields than declared":    {whole, 7},
		"bytes after the last field":   {whole + "\x00", 8},
		"fields out of order":          {"\x01\x00\x01\x00" + text(Missing, ""), 1},
		"a missing value with content": {one(text(Missing, "x")), 1},
		"a bool of two bytes":          {one(text(Bool, "\x00\x01")), 1},
		"a short integer":              {one(text(Int, "1234567")), 1},
		"a long float":                 {one(text(Float, "123456789")), 1},
		"a list without a count":       {one(text(List, "\x00\x00\x00")), 1},
		"a map without a count":        {one(text(Map, "")), 1},
		"a length beyond the record":   {one("\x01\xff\xff\xff\xffx"), 1},
	}
	for i := range len(whole) {
		if _, err := parse(whole[:i], 8, 0); err == nil {
			t.Errorf("a record cut to %d of %d bytes was accepted", i, len(whole))
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(test.text, test.fields, 0); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestSettingsAreLookedAtWhole(t *testing.T) {
	text := func(kind Kind, data string) string {
		return string([]byte{byte(kind), byte(len(data)), 0, 0, 0}) + data
	}
	for name, test := range map[string]string{
		"a list shorter than its count":     text(List, "\x01\x00\x00\x00"),
		"a list longer than its count":      text(List, "\x00\x00\x00\x00"+text(Missing, "")),
		"a list with a bad element":         text(List, "\x01\x00\x00\x00"+text(Bool, "")),
		"a list of billions":                text(List, "\xff\xff\xff\xff"),
		"a map with a key but no value":     text(Map, "\x01\x00\x00\x00\x01\x00\x00\x00k"),
		"a map with a key beyond its bytes": text(Map, "\x01\x00\x00\x00\xff\xff\xff\xffk"),
	} {
		if _, err := ParseValue(test); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := Head(test); err != nil {
			t.Errorf("%s: the head alone is refused: %v", name, err)
		}
	}
}

func TestATornListEndsBeforeWhatIsTorn(t *testing.T) {
	var w Writer
	w.List(2, func(int) { w.String("abc") })
	for cut := range len(w.Out) - 9 {
		data := string(w.Out[5 : len(w.Out)-1-cut])
		v, err := Head(string([]byte{byte(List), byte(len(data)), 0, 0, 0}) + data)
		if err != nil {
			t.Fatal(err)
		}
		parts, n := v.Parts(), 0
		for {
			element, ok := parts.Next()
			if !ok {
				break
			}
			if n++; element.Text() != "abc" {
				t.Errorf("%d bytes: %q", len(data), element.Text())
			}
		}
		if n != (len(data)-4)/8 || parts.More() == ((len(data)-4)%8 == 0) {
			t.Errorf("%d bytes: %d elements, more is %v", len(data), n, parts.More())
		}
	}
}

// oddity is an implementation of Bools.
type oddity struct{ asked int }

func (o *oddity) HasBool(Value, bool) bool {
	o.asked++
	return false
}

func TestListsOfBoolsAreSearched(t *testing.T) {
	bools := func(w *Writer, text string) {
		w.List(len(text), func(i int) {
			switch text[i] {
			case '-':
				w.Missing()
			case 's':
				w.String("")
			default:
				w.Bool(text[i] == 't')
			}
		})
	}
	for text, want := range map[string]struct {
		anyTrue, anyFalse bool
		odd               int // how many of the two searches call odd
	}{
		"": {}, "f": {anyFalse: true}, "t": {anyTrue: true}, "tf": {true, true, 0}, "fffft": {true, true, 0},
		"-": {anyFalse: true}, "t-": {true, true, 0}, "--t": {true, true, 0}, "ttt": {anyTrue: true}, "f-f": {anyFalse: true},
		"s": {odd: 2}, "ts": {true, false, 1}, "fs": {false, true, 1}, "-s": {false, true, 1}, "tfs": {true, true, 0},
	} {
		var w Writer
		bools(&w, text)
		v, err := Head(string(w.Out))
		if err != nil {
			t.Fatal(err)
		}
		var o oddity
		if v.HasBool(true, &o) != want.anyTrue || v.HasBool(false, &o) != want.anyFalse || o.asked != want.odd {
			t.Errorf("%q: %d odd, want %+v", text, o.asked, want)
		}
	}
	var o oddity
	var w Writer
	w.String("x")
	text, err := Head(string(w.Out))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Value{{}, text} {
		v.HasBool(true, &o)
	}
	if o.asked != 2 {
		t.Error("what is no list was searched")
	}
}

func TestATornListOfBoolsIsOdd(t *testing.T) {
	var w Writer
	w.List(3, func(int) { w.Bool(false) })
	for n := 4; n < len(w.Out)-5; n++ {
		v, err := Head(string([]byte{byte(List), byte(n), 0, 0, 0}) + string(w.Out[5:5+n]))
		if err != nil {
			t.Fatal(err)
		}
		var o oddity
		if v.HasBool(true, &o) || (o.asked == 0) != ((n-4)%6 == 0) {
			t.Errorf("%d bytes: odd %d times", n, o.asked)
		}
	}
}

func TestATornListEndsBeforeItsNeighbour(t *testing.T) {
	for torn := 1; torn < header; torn++ {
		// A list whose last element is torn, with zeros after it.
		inner := string([]byte{byte(List), byte(4 + torn), 0, 0, 0, 1, 0, 0, 0}) + strings.Repeat("\x00", torn)
		data := "\x02\x00\x00\x00" + inner + strings.Repeat("\x00", header)
		v, err := Head(string([]byte{byte(List), byte(len(data)), 0, 0, 0}) + data)
		if err != nil {
			t.Fatal(err)
		}
		parts := v.Parts()
		list, ok := parts.Next()
		if !ok || !list.Is(List) {
			t.Fatalf("%d bytes: no list", torn)
		}
		var o oddity
		if list.HasBool(false, &o) || o.asked != 1 {
			t.Errorf("%d bytes: a bool of what is torn", torn)
		}
		inside := list.Parts()
		if _, left := inside.Peek(); left >= 0 {
			t.Errorf("%d bytes: %d left behind a torn head", torn, left)
		}
		if _, ok := inside.Next(); ok || !inside.More() {
			t.Errorf("%d bytes: an element of what is torn", torn)
		}
	}
}

func TestKindsOfLaterVersionsAreSkipped(t *testing.T) {
	var w Writer
	w.Begin(2)
	w.Field(0)
	w.header(JSON+1, 3)
	w.Out = append(w.Out, "???"...)
	w.Field(1)
	w.String("x")
	fields, err := parse(string(w.Out), 2, 0)
	if err != nil || fields[1].Text() != "x" {
		t.Errorf("%v, %v", fields, err)
	}
	if got := fields[0].Kind().String(); got != "a value of an unknown kind" {
		t.Error(got)
	}
}

func TestLazyFieldsAreNotInTheRecord(t *testing.T) {
	var w Writer
	w.Begin(2)
	for _, handle := range []int{1, 3} {
		w.Field(handle)
		w.Int(int64(handle))
	}
	text := string(w.Out)
	fields, err := parse(text, 4, 0b0101)
	if err != nil {
		t.Fatal(err)
	}
	if !fields[0].None() || fields[1].Int() != 1 || !fields[2].None() || fields[3].Int() != 3 {
		t.Errorf("got %v", fields)
	}
	for _, lazy := range []uint64{0, 0b0001, 0b1010, 0b0111, 0b1111} {
		if _, err := parse(text, 4, lazy); err == nil {
			t.Errorf("accepted, with %04b lazy", lazy)
		}
	}
}

func TestListsInListsHaveALimit(t *testing.T) {
	nest := func(depth int) string {
		var w Writer
		var one func(int)
		one = func(int) {
			if depth--; depth > 0 {
				w.List(1, one)
			} else {
				w.List(0, nil)
			}
		}
		one(0)
		return string(w.Out)
	}
	if _, err := ParseValue(nest(maxDepth)); err != nil {
		t.Errorf("%d deep: %v", maxDepth, err)
	}
	if _, err := ParseValue(nest(maxDepth + 1)); err == nil {
		t.Errorf("%d deep: accepted", maxDepth+1)
	}
}

func TestASingleValueFillsItsBytes(t *testing.T) {
	var w Writer
	w.String("x")
	if v, err := ParseValue(string(w.Out)); err != nil || v.Text() != "x" {
		t.Errorf("%v, %v", v, err)
	}
	for _, text := range []string{"", string(w.Out) + "x", string(w.Out[:3]), "\x02\x00\x00\x00\x00"} {
		if _, err := ParseValue(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	if got := List.String(); got != "a list" {
		t.Error(got)
	}
	if got := Kind(200).String(); !strings.Contains(got, "unknown") {
		t.Error(got)
	}
}
