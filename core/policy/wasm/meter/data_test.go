package meter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// dataSection returns a data section with a segment for each piece, at the piece's address.
func dataSection(pieces ...piece) []byte {
	out := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		out = append(appendSigned(append(out, 0, 0x41), p.address), 0x0b)
		out = append(binary.AppendUvarint(out, uint64(len(p.content))), p.content...)
	}
	return out
}

// withData returns a module with a memory, a constant and a data section.
func withData(tb testing.TB, section []byte) *module.Module {
	tb.Helper()
	text := "\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x06\x06\x01\x7f\x00\x41\x00\x0b\x0b"
	m, err := module.Parse(append(binary.AppendUvarint([]byte(text), uint64(len(section))), section...), module.Caps{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestPiecesOfDataAreJoined(t *testing.T) {
	t.Parallel()
	at := func(address int64, content string) piece { return piece{address: address, content: []byte(content)} }
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
		section := dataSection(test.from...)
		if got := joinData(withData(t, section), section); !bytes.Equal(got, dataSection(test.want...)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestOtherDataSectionsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"a passive piece":       "\x02\x00\x41\x00\x0b\x01a\x01\x01b",
		"a piece at a global":   "\x02\x00\x41\x00\x0b\x01a\x00\x23\x00\x0b\x01b",
		"an address from -1 on": "\x02\x00\x41\x7f\x0b\x01a\x00\x41\x00\x0b\x01b",
	} {
		if got := joinData(withData(t, []byte(section)), []byte(section)); string(got) != section {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestDataThatIsCountedIsLeftAlone checks that segments are not joined if there is a data
// count section: instructions may then refer to segments by number.
func TestDataThatIsCountedIsLeftAlone(t *testing.T) {
	t.Parallel()
	data := dataSection(piece{address: 0, content: []byte("a")}, piece{address: 1, content: []byte("b")})
	text := "\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x0c\x01\x02\x0b"
	whole := append(append([]byte(text), byte(len(data))), data...)
	if out := rewritten(t, whole).Binary; !bytes.HasSuffix(out, data) {
		t.Errorf("%q", out)
	}
	uncounted := append([]byte("\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x0b"), whole[len(text):]...)
	if out := rewritten(t, uncounted).Binary; !bytes.HasSuffix(out, dataSection(piece{address: 0, content: []byte("ab")})) {
		t.Errorf("%q", out)
	}
}

// TestJoinedDataMakesTheSameMemory checks that the Go guest's memory is the same with and
// without joined segments.
func TestJoinedDataMakesTheSameMemory(t *testing.T) {
	t.Parallel()
	guest, err := buildGuest(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	before, n := image(t, guest)
	after, m := image(t, rewritten(t, guest).Binary)
	if !bytes.Equal(before, after) {
		t.Error("the data differ")
	}
	if n < 1000 || m > n/4 {
		t.Errorf("%d pieces became %d", n, m)
	}
	t.Logf("%d pieces became %d", n, m)
}

// image returns the memory that a module's data segments write, and the number of segments.
func image(t *testing.T, binary []byte) (memory []byte, pieces int) {
	t.Helper()
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	memory = make([]byte, 4<<20)
	for i := range m.Data {
		address, ok := m.Data[i].Address()
		if !ok {
			t.Fatalf("no address of data %d", i)
		}
		copy(memory[address:], m.Data[i].Content)
	}
	return memory, len(m.Data)
}

// buildGuest compiles the Go guest of package wasm's tests to WebAssembly.
func buildGuest(dir string) ([]byte, error) {
	file := filepath.Join(dir, "guest.wasm")
	compile := exec.Command("go", "build", "-C", "..", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./testdata/guest")
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if text, err := compile.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the guest: %w", err), errors.New(string(text)))
	}
	return os.ReadFile(file)
}
