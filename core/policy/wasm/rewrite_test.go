package wasm

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// dataSection is one with a piece at each address.
func dataSection(pieces ...piece) []byte {
	out := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		out = append(appendSigned(append(out, 0, 0x41), p.address), 0x0b)
		out = append(binary.AppendUvarint(out, uint64(len(p.content))), p.content...)
	}
	return out
}

func TestPiecesOfDataAreJoined(t *testing.T) {
	t.Parallel()
	at := func(address int64, content string) piece { return piece{address, []byte(content)} }
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for name, test := range map[string]struct{ from, want []piece }{
		"none":                    {nil, nil},
		"one":                     {[]piece{at(5, "a")}, []piece{at(5, "a")}},
		"next to each other":      {[]piece{at(0, "a"), at(1, "bc"), at(3, "d")}, []piece{at(0, "abcd")}},
		"with zeros between":      {[]piece{at(100, "a"), at(103, "b")}, []piece{at(100, "a\x00\x00b")}},
		"with the largest gap":    {[]piece{at(1000, "a"), at(1001+maxGap, "b")}, []piece{at(1000, "a"+zeros(maxGap)+"b")}},
		"too far apart":           {[]piece{at(1000, "a"), at(1002+maxGap, "b"), at(1003+maxGap, "c")}, []piece{at(1000, "a"), at(1002+maxGap, "bc")}},
		"empty":                   {[]piece{at(9, ""), at(10, "a")}, []piece{at(9, "\x00a")}},
		"at high addresses":       {[]piece{at(1<<31-3, "a"), at(1<<31-2, "b")}, []piece{at(1<<31-3, "ab")}},
		"overlapping, left alone": {[]piece{at(0, "ab"), at(1, "c")}, []piece{at(0, "ab"), at(1, "c")}},
		"in any order":            {[]piece{at(1000, "a"), at(1, "c"), at(0, "b")}, []piece{at(0, "bc"), at(1000, "a")}},
		"inside of another":       {[]piece{at(0, "abcd"), at(1, "x"), at(9, "y")}, []piece{at(0, "abcd"), at(1, "x"), at(9, "y")}},
	} {
		if got := joinData(dataSection(test.from...)); !bytes.Equal(got, dataSection(test.want...)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestOtherDataSectionsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"a passive piece":          "\x02\x00\x41\x00\x0b\x01a\x01\x01b",
		"a piece at a global":      "\x02\x00\x41\x00\x0b\x01a\x00\x23\x00\x0b\x01b",
		"a memory by its number":   "\x02\x00\x41\x00\x0b\x01a\x02\x00\x41\x01\x0b\x01b",
		"an address from -1 on":    "\x02\x00\x41\x7f\x0b\x01a\x00\x41\x00\x0b\x01b",
		"a sum":                    "\x02\x00\x41\x00\x0b\x01a\x00\x41\x01\x41\x01\x6a\x0b\x01b",
		"a torn piece":             "\x02\x00\x41\x00\x0b\x01a\x00\x41\x01\x0b\x09b",
		"more than was announced":  "\x01\x00\x41\x00\x0b\x01a\x00\x41\x01\x0b\x01b",
		"fewer than was announced": "\x03\x00\x41\x00\x0b\x01a\x00\x41\x01\x0b\x01b",
		"nothing":                  "",
	} {
		if got := joinData([]byte(section)); string(got) != section {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestNumbersOfModules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"\x00": 0, "\x3f": 63, "\x40": -64, "\x7f": -1, "\xc0\x00": 64, "\x80\x7f": -128, "\xff\xff\xff\xff\x07": 1<<31 - 1, "\x80\x80\x80\x80\x78": -1 << 31,
	} {
		r := reader{data: []byte(text)}
		if got := r.signed32(); got != want || r.err != nil || r.left() > 0 {
			t.Errorf("%x is read as %d, %v", text, got, r.err)
		}
	}
	for text, want := range map[string]string{
		"":                     "at byte 0: the module ends in the middle of a section",
		"\x80":                 "at byte 1: the module ends in the middle of a section",
		"\x80\x80\x80\x80\x80": "at byte 5: a number of more than 5 bytes",
		"\xff\xff\xff\xff\x1f": "at byte 5: a number of more than 32 bits",
	} {
		r := reader{data: []byte(text)}
		if got := r.u32(); got != 0 || r.err == nil || r.err.Error() != want {
			t.Errorf("%x is read as %d, %v", text, got, r.err)
		}
	}
	for address := range int64(1 << 16) {
		r := reader{data: appendSigned(nil, address*32769)}
		if got := r.signed32(); address*32769 < 1<<31 && got != address*32769 {
			t.Fatalf("%d is read as %d", address*32769, got)
		}
	}
}

// The Go guest's memory must be the same whether its data was joined or not.
func TestJoinedDataMakesTheSameMemory(t *testing.T) {
	t.Parallel()
	binary, err := buildGuest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLayout(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range l.sections {
		if s.id != sectionData {
			continue
		}
		joined := joinData(s.payload)
		before, n := image(t, s.payload)
		after, m := image(t, joined)
		if !bytes.Equal(before, after) {
			t.Error("the data differ")
		}
		if n < 1000 || m > n/4 {
			t.Errorf("%d pieces became %d", n, m)
		}
		t.Logf("%d pieces became %d, %d bytes became %d", n, m, len(s.payload), len(joined))
	}
}

// image is what a data section writes.
func image(t *testing.T, section []byte) (memory []byte, pieces int) {
	t.Helper()
	r := &reader{data: section}
	memory = make([]byte, 4<<20)
	pieces = r.count()
	for range pieces {
		p, ok := readPiece(r)
		if !ok {
			t.Fatalf("no piece at %d", r.at)
		}
		copy(memory[p.address:], p.content)
	}
	return memory, pieces
}
