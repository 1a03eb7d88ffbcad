package spectest

import (
	"testing"

	"github.com/tetratelabs/wazero/api"
)

func TestNaNsOfAClassAreShownAlike(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		kind  string
		class string
		bits  uint64
		want  string
	}{
		{"f32", "canonical", 0x7fc00000, "f32:nan:canonical"},
		{"f32", "canonical", 0xffc00000, "f32:nan:canonical"},
		{"f32", "canonical", 0x7fc00001, "f32:0x7fc00001"},
		{"f32", "canonical", 0x7f800000, "f32:0x7f800000"}, // infinity
		{"f32", "canonical", 0x3fc00000, "f32:0x3fc00000"}, // 1.5
		{"f32", "arithmetic", 0x7fc00000, "f32:nan:arithmetic"},
		{"f32", "arithmetic", 0xffffffff, "f32:nan:arithmetic"},
		{"f32", "arithmetic", 0x7fa00000, "f32:0x7fa00000"}, // signalling
		{"f32", "arithmetic", 0x7f800000, "f32:0x7f800000"},
		{"f32", "", 0x7fc00000, "f32:0x7fc00000"},
		{"f64", "canonical", 0x7ff8000000000000, "f64:nan:canonical"},
		{"f64", "canonical", 0xfff8000000000000, "f64:nan:canonical"},
		{"f64", "canonical", 0x7ff8000000000001, "f64:0x7ff8000000000001"},
		{"f64", "canonical", 0x7ff0000000000000, "f64:0x7ff0000000000000"},
		{"f64", "arithmetic", 0xffffffffffffffff, "f64:nan:arithmetic"},
		{"f64", "arithmetic", 0x7ff4000000000000, "f64:0x7ff4000000000000"},
	} {
		c := &constant{kind: x.kind, lanes: []lane{{nan: x.class}}}
		if got := show(x.kind, []uint64{x.bits}, c); got != x.want {
			t.Errorf("%s %#x where nan:%s is wanted: %q, want %q", x.kind, x.bits, x.class, got, x.want)
		}
	}
}

func TestResultsAreShownByTheirTypes(t *testing.T) {
	t.Parallel()
	nan := constant{kind: "f32", lanes: []lane{{nan: "canonical"}}}
	vector := constant{kind: "v128", shape: "f32", lanes: []lane{{}, {nan: "canonical"}, {nan: "arithmetic"}, {bits: 1}}}
	for name, x := range map[string]struct {
		types []api.ValueType
		words []uint64
		want  []constant
		text  string
	}{
		"nothing":                   {text: "returned"},
		"two numbers":               {types: []api.ValueType{api.ValueTypeI32, api.ValueTypeF64}, words: []uint64{1, 2}, text: "i32:0x00000001 f64:0x0000000000000002"},
		"what lies above 32 bits":   {types: []api.ValueType{api.ValueTypeI32}, words: []uint64{0xbad00000001}, text: "i32:0x00000001"},
		"above a NaN":               {types: []api.ValueType{api.ValueTypeF32}, words: []uint64{0xbad7fc00000}, want: []constant{nan}, text: "f32:nan:canonical"},
		"a class of another type":   {types: []api.ValueType{api.ValueTypeI32}, words: []uint64{0x7fc00000}, want: []constant{nan}, text: "i32:0x7fc00000"},
		"a vector nobody wants":     {types: []api.ValueType{typeV128}, words: []uint64{1, 2}, text: "v128:i64(0x0000000000000001 0x0000000000000002)"},
		"a vector, then a number":   {types: []api.ValueType{typeV128, api.ValueTypeI32}, words: []uint64{1, 2, 3}, text: "v128:i64(0x0000000000000001 0x0000000000000002) i32:0x00000003"},
		"lanes with classes":        {types: []api.ValueType{typeV128}, words: []uint64{0x7fc0000000000000, 0x1ffffffff}, want: []constant{vector}, text: "v128:f32(0x00000000 nan:canonical nan:arithmetic 0x00000001)"},
		"a reference to a function": {types: []api.ValueType{typeFuncref}, words: []uint64{0xc000123400}, text: "funcref:set"},
		"null references":           {types: []api.ValueType{typeFuncref, api.ValueTypeExternref}, words: []uint64{0, 0}, text: "funcref:null externref:null"},
		"fewer results":             {types: []api.ValueType{api.ValueTypeI32, typeV128}, words: []uint64{1, 2}, text: "i32:0x00000001 and fewer results than its type says"},
		"more results":              {types: []api.ValueType{api.ValueTypeI32}, words: []uint64{1, 2}, text: "i32:0x00000001 and more results than its type says"},
	} {
		if got := showAll(x.types, x.words, x.want); got != x.text {
			t.Errorf("%s: %q, want %q", name, got, x.text)
		}
	}
}
