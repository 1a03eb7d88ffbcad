package spectest

import (
	"encoding/json"
	"slices"
	"testing"
)

// constants are texts of wast2json, with their encoding in wazero and in an outcome.
var constants = []struct {
	json  string
	words []uint64
	text  string
}{
	{`{"type":"i32","value":"4294967295"}`, []uint64{0xffffffff}, "i32:0xffffffff"},
	{`{"type":"i64","value":"18446744073709551615"}`, []uint64{1<<64 - 1}, "i64:0xffffffffffffffff"},
	{`{"type":"f32","value":"2147483648"}`, []uint64{0x80000000}, "f32:0x80000000"},
	{`{"type":"f64","value":"9221120237041090561"}`, []uint64{0x7ff8000000000001}, "f64:0x7ff8000000000001"},
	{`{"type":"externref","value":"0"}`, []uint64{1}, "externref:0"},
	{`{"type":"externref","value":"null"}`, []uint64{0}, "externref:null"},
	{`{"type":"funcref","value":"null"}`, []uint64{0}, "funcref:null"},
	{
		`{"type":"v128","lane_type":"i8","value":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","255"]}`,
		[]uint64{0x0807060504030201, 0xff0f0e0d0c0b0a09},
		"v128:i8(0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 0x09 0x0a 0x0b 0x0c 0x0d 0x0e 0x0f 0xff)",
	},
	{
		`{"type":"v128","lane_type":"i16","value":["1","2","3","4","5","6","7","65535"]}`,
		[]uint64{0x0004000300020001, 0xffff000700060005},
		"v128:i16(0x0001 0x0002 0x0003 0x0004 0x0005 0x0006 0x0007 0xffff)",
	},
	{
		`{"type":"v128","lane_type":"f32","value":["1","2","3","4294967295"]}`,
		[]uint64{0x0000000200000001, 0xffffffff00000003},
		"v128:f32(0x00000001 0x00000002 0x00000003 0xffffffff)",
	},
	{`{"type":"v128","lane_type":"f64","value":["1","2"]}`, []uint64{1, 2}, "v128:f64(0x0000000000000001 0x0000000000000002)"},
}

func TestConstantsAreReadAndShownByTheirBits(t *testing.T) {
	t.Parallel()
	for _, want := range constants {
		var c constant
		if err := json.Unmarshal([]byte(want.json), &c); err != nil {
			t.Errorf("%s: %v", want.json, err)
			continue
		}
		if got := c.words(); !slices.Equal(got, want.words) {
			t.Errorf("%s: words %#x, want %#x", want.json, got, want.words)
		}
		if got := c.text(); got != want.text {
			t.Errorf("%s: wanted as %q, want %q", want.json, got, want.text)
		}
		if got := show(c.kind, want.words, &c); got != want.text {
			t.Errorf("%s: shown as %q, want %q", want.json, got, want.text)
		}
	}
}

func TestConstantsAreRefusedThatCannotBeTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"i8","value":"1"}`:                                `type "i8" of a value is unknown`,
		`{"type":"exnref","value":"null"}`:                         `type "exnref" of a value is unknown`,
		`{"type":"i32","value":"4294967296"}`:                      `value "4294967296" of type i32: strconv.ParseUint: parsing "4294967296": value out of range`,
		`{"type":"i32","value":"-1"}`:                              `value "-1" of type i32: strconv.ParseUint: parsing "-1": invalid syntax`,
		`{"type":"i32","value":"nan:canonical"}`:                   `value "nan:canonical" of type i32: strconv.ParseUint: parsing "nan:canonical": invalid syntax`,
		`{"type":"f32","value":"nan:loud"}`:                        `value "nan:loud" of type f32: strconv.ParseUint: parsing "nan:loud": invalid syntax`,
		`{"type":"i32","value":["1"]}`:                             "value [\"1\"] of type i32: json: cannot unmarshal array into Go value of type string",
		`{"type":"funcref","value":"1"}`:                           `a funcref with the value "1": only null can be told`,
		`{"type":"externref","value":"18446744073709551615"}`:      "an externref with the highest number: it cannot be given to wazero",
		`{"type":"v128","lane_type":"i64","value":["1"]}`:          `a v128 of 1 lanes of type "i64"`,
		`{"type":"v128","lane_type":"i7","value":["1","2"]}`:       `a v128 of 2 lanes of type "i7"`,
		`{"type":"v128","value":["1","2"]}`:                        `a v128 of 2 lanes of type ""`,
		`{"type":"v128","lane_type":"f64","value":["1","nan:x"]}`:  `value "nan:x" of type f64: strconv.ParseUint: parsing "nan:x": invalid syntax`,
		`{"type":"v128","lane_type":"i32","value":"1"}`:            "value \"1\" of type v128: json: cannot unmarshal string into Go value of type []string",
		`{"type":"v128","lane_type":"i64","value":["nan:x", "1"]}`: `value "nan:x" of type i64: strconv.ParseUint: parsing "nan:x": invalid syntax`,
	} {
		var c constant
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s is read as %+v", text, c)
		} else if err.Error() != want {
			t.Errorf("%s: error %q, want %q", text, err, want)
		}
	}
}
