package patch

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

func TestPatchesAreWritten(t *testing.T) {
	got := JSON(
		Add(Path("metadata", "labels", "app.kubernetes.io/name~x"), String("a\"b\\\n\x7f\xffü<")),
		Replace("/spec/priority", Int(-5)),
		Test("/spec/hostNetwork", Bool(false)),
		Remove("/spec/volumes/0"),
		Add("/spec/tolerations/-", Object(Member{"key", String("k")}, Member{"effect", Value{}})),
		Add("/x", List(Strings("a", "b"), Bool(true), Raw([]byte(`{"y": 1.5}`)), Strings())),
	)
	want := `[{"op":"add","path":"/metadata/labels/app.kubernetes.io~1name~0x","value":"a\"b\\\u000a\u007f` + "\uFFFD" + `ü<"},` +
		`{"op":"replace","path":"/spec/priority","value":-5},{"op":"test","path":"/spec/hostNetwork","value":false},` +
		`{"op":"remove","path":"/spec/volumes/0"},{"op":"add","path":"/spec/tolerations/-","value":{"key":"k","effect":null}},` +
		`{"op":"add","path":"/x","value":[["a","b"],true,{"y": 1.5},[]]}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("no JSON")
	}
	if got := JSON(); got != "[]" {
		t.Errorf("no operations: %s", got)
	}
}

func TestRawValuesAreCopied(t *testing.T) {
	text := []byte(`1`)
	v := Raw(text)
	text[0] = '2'
	if got := JSON(Test("", v)); got != `[{"op":"test","path":"","value":1}]` {
		t.Error(got)
	}
	if got := Path(); got != "" {
		t.Errorf("the whole document is %q", got)
	}
}

func FuzzString(f *testing.F) {
	f.Add("a\"\\\x00\x1f\u2028é")
	f.Fuzz(func(t *testing.T, s string) {
		var got []map[string]string
		if err := json.Unmarshal([]byte(JSON(Add(s, String(s)))), &got); err != nil {
			t.Fatal(err)
		}
		want := []map[string]string{{"op": "add", "path": s, "value": s}}
		if utf8.ValidString(s) && !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
