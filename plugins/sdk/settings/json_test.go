package settings

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// plain decodes the next value into the types of encoding/json, with numbers as text.
func (p *parser) plain() any {
	switch v := p.next(); v.kind {
	case boolean:
		return v.text == "true"
	case number:
		return json.Number(v.text)
	case str:
		return v.text
	case array:
		list := []any{}
		for more := p.element(true); more; more = p.element(false) {
			list = append(list, p.plain())
		}
		return list
	case object:
		table := map[string]any{}
		for name, ok := p.member(true); ok; name, ok = p.member(false) {
			table[name] = p.plain()
		}
		return table
	}
	return nil
}

func FuzzParser(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -2.5e3, true, false, null, "x"], "b": {}, "c": []}`, `"\u00fc\ud83d\ude00\ud800\"\\\/\b\f\n\r\t"`, `[[[]]]`, `{"a"`, `[1`, `"\`, `"\u12`, `"\ud800\u0000x"`, `tru`, `-`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := parser{text: text}
		got := p.plain()
		var want any
		if !json.Valid([]byte(text)) {
			return // the parser only must not loop forever
		}
		if err := unmarshal(text, &want); err != nil {
			return
		}
		if p.torn || p.peek() != 0 {
			t.Fatalf("%s was not read to its end", text)
		}
		if valid([]byte(text)) && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		skipped := parser{text: text}
		if skipped.skip(skipped.next()); skipped.torn || skipped.peek() != 0 {
			t.Errorf("%s was not skipped to its end", text)
		}
	})
}

func FuzzParseFloat(f *testing.F) {
	for _, seed := range []string{"0", "1.5", "-0", "1e22", "123456789012345e-22", "1e+5", ".", "1e", "--1", "9007199254740992"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseFloat(text)
		if !ok || !json.Valid([]byte(text)) {
			return
		}
		if want, err := strconv.ParseFloat(text, 64); err != nil || got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	})
}

func FuzzParseInt(f *testing.F) {
	for _, seed := range []string{"0", "-1", "18446744073709551615", "18446744073709551616", "-", "", "1x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		magnitude, negative, ok := parseInt(text)
		digits := text
		if negative {
			digits = text[1:]
		}
		want, err := strconv.ParseUint(digits, 10, 64)
		if ok != (err == nil) || ok && magnitude != want {
			t.Errorf("%q: got %d, %v, want %d, %v", text, magnitude, ok, want, err)
		}
	})
}

func unmarshal(text string, into *any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// valid reports whether a text is valid UTF-8. encoding/json replaces invalid UTF-8, which
// the agent never writes.
func valid(text []byte) bool { return utf8.Valid(text) }
