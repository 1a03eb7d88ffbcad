package module

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestNumbersAreReadAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint32{
		"\x00": 0, "\x7f": 127, "\x80\x01": 128, "\xff\x7f": 16383, "\xff\xff\xff\xff\x0f": math.MaxUint32,
		"\x80\x00": 0, "\x83\x80\x80\x80\x00": 3, // longer than necessary
	} {
		r := reader{data: []byte(text)}
		if got := r.u32(); got != want || r.err != nil || r.left() > 0 {
			t.Errorf("%x is read as %d, %v, %d bytes are left; want %d", text, got, r.err, r.left(), want)
		}
	}
	for text, want := range map[string]int64{
		"\x00": 0, "\x3f": 63, "\x40": -64, "\x7f": -1, "\xc0\x00": 64, "\x80\x7f": -128, "\xff\x7f": -1,
		"\xff\xff\xff\xff\x07": math.MaxInt32, "\x80\x80\x80\x80\x78": math.MinInt32, "\xff\xff\xff\xff\x7f": -1,
	} {
		r := reader{data: []byte(text)}
		if got := r.signed(32); got != want || r.err != nil || r.left() > 0 {
			t.Errorf("%x is read as %d, %v, %d bytes are left; want %d", text, got, r.err, r.left(), want)
		}
	}
	for text, want := range map[string]int64{
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00": math.MaxInt64, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f": math.MinInt64, "\x40": -64,
		"\x80\x80\x80\x80\x08": 1 << 31,
	} {
		r := reader{data: []byte(text)}
		if got := r.signed(64); got != want || r.err != nil || r.left() > 0 {
			t.Errorf("%x is read as %d, %v, %d bytes are left; want %d", text, got, r.err, r.left(), want)
		}
	}
	for text, want := range map[string]int64{"\x40": -64, "\xff\xff\xff\xff\x0f": math.MaxUint32, "\x80\x80\x80\x80\x70": -1 << 32} {
		r := reader{data: []byte(text)}
		if got := r.signed(33); got != want || r.err != nil || r.left() > 0 {
			t.Errorf("%x is read as %d, %v, %d bytes are left; want %d", text, got, r.err, r.left(), want)
		}
	}
}

func TestNumbersThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	const u, s32, s33, s64 = 0, 32, 33, 64
	for _, test := range []struct {
		text string
		kind int
		want string
	}{
		{"", u, "at byte 0x0: it ends in the middle"},
		{"\x80", u, "at byte 0x1: it ends in the middle"},
		{"\x80\x80\x80\x80\x80\x00", u, "at byte 0x0: a number of more than 32 bits"},
		{"\xff\xff\xff\xff\x1f", u, "at byte 0x0: a number of more than 32 bits"},
		{"\xff\xff\xff\xff\x8f\x00", u, "at byte 0x0: a number of more than 32 bits"},
		{"", s32, "at byte 0x0: it ends in the middle"},
		{"\xff\xff\xff\xff\xff\x7f", s32, "at byte 0x0: a number of more than 32 bits"},
		{"\xff\xff\xff\xff\x0f", s32, "at byte 0x0: a number of more than 32 bits"}, // its sign bit and the bits above differ
		{"\xff\xff\xff\xff\x4f", s32, "at byte 0x0: a number of more than 32 bits"},
		{"\x80\x80\x80\x80\x70", s32, "at byte 0x0: a number of more than 32 bits"},
		{"\x80\x80\x80\x80\x80\x7f", s33, "at byte 0x0: a number of more than 33 bits"},
		{"\xff\xff\xff\xff\x1f", s33, "at byte 0x0: a number of more than 33 bits"},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", s64, "at byte 0x0: a number of more than 64 bits"},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", s64, "at byte 0x0: a number of more than 64 bits"},
		{"\x80\x80", s64, "at byte 0x2: it ends in the middle"},
	} {
		r := reader{data: []byte(test.text)}
		var got int64
		if test.kind == u {
			got = int64(r.u32())
		} else {
			got = r.signed(test.kind)
		}
		if got != 0 || r.err == nil || r.err.Error() != test.want {
			t.Errorf("%x with %d bits is read as %d, %v; want %s", test.text, test.kind, got, r.err, test.want)
		}
	}
}

func TestNumbersOfEveryLength(t *testing.T) {
	t.Parallel()
	for n := range uint64(1 << 16) {
		value := uint32(n * 65537)
		r := reader{data: binary.AppendUvarint(nil, uint64(value))}
		if got := r.u32(); got != value || r.err != nil || r.left() > 0 {
			t.Fatalf("%d is read as %d, %v", value, got, r.err)
		}
		r = reader{data: signed(int64(int32(value)))}
		if got := r.signed(32); got != int64(int32(value)) || r.err != nil || r.left() > 0 {
			t.Fatalf("%d is read as %d, %v", int32(value), got, r.err)
		}
		long := int64(n*0x1000200040009 ^ n<<48)
		r = reader{data: signed(long)}
		if got := r.signed(64); got != long || r.err != nil || r.left() > 0 {
			t.Fatalf("%d is read as %d, %v", long, got, r.err)
		}
	}
}

// signed returns a number in signed LEB128.
func signed(n int64) (out []byte) {
	for n < -64 || n > 63 {
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n)&0x7f)
}

func TestTheFirstFaultSticks(t *testing.T) {
	t.Parallel()
	r := reader{data: []byte("\x01\x05\x00"), section: "data", index: 3}
	r.byte()
	if r.take(9) != nil || r.byte() != 0 || r.u32() != 0 || r.below(5, "thing") != 0 || r.count() != 0 {
		t.Error("something is read after a fault")
	}
	if got, want := r.err.Error(), "data section, data 3, at byte 0x1: 9 bytes are announced, 2 are left"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
