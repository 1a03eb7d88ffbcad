package module_test

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many bytes are allocated while a module is read. No other test may
// run at the same time.
func allocated(binary []byte) uint64 {
	least := ^uint64(0)
	for range 3 { // takes the minimum: the runtime allocates too
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = read(binary)
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// TestNothingIsAllocatedByDeclaredSizes measures what the whole process allocates.
func TestNothingIsAllocatedByDeclaredSizes(t *testing.T) {
	const most = "\xff\xff\xff\xff\x0f" // 2^32-1
	big := strings.Repeat("\x00", 200)
	for name, binary := range map[string][]byte{
		"a section's length":    of("\x01" + most + big),
		"a name":                of(section(0, most+big)),
		"types":                 of(section(1, most+big)),
		"parameters":            of(section(1, "\x01\x60"+most+big)),
		"results":               of(section(1, "\x01\x60\x00"+most+big)),
		"imports":               of(section(2, most+big)),
		"an import's name":      of(section(2, "\x01"+most+big)),
		"functions":             of(oneType, section(3, most+big)),
		"tables":                of(section(4, most+big)),
		"a table's size":        of(section(4, "\x01\x70\x00"+most)),
		"memories":              of(section(5, most+big)),
		"globals":               of(section(6, most+big)),
		"exports":               of(section(7, most+big)),
		"segments of elements":  of(section(9, most+big)),
		"elements":              of(oneType, oneFunction, section(9, "\x01\x01\x00"+most+big)),
		"expressions":           of(section(9, "\x01\x05\x70"+most+big)),
		"a count of data":       of(section(12, most)),
		"bodies":                of(oneType, oneFunction, section(10, most+big)),
		"a body's length":       of(oneType, oneFunction, section(10, "\x01"+most+big)),
		"groups of locals":      of(oneType, oneFunction, section(10, "\x01\x80\x01"+most+big)),
		"locals":                of(oneType, oneFunction, section(10, "\x01\x08\x01"+most+"\x7f\x0b")),
		"labels":                code("\x00\x41\x00\x0e" + most + big[:90]),
		"segments of data":      of(section(11, most+big)),
		"a segment's data":      of(oneMemory, section(11, "\x01\x00\x41\x00\x0b"+most+big)),
		"an index in an export": of(section(7, "\x01\x01a\x00"+most)),
	} {
		if got := allocated(binary); got > 8<<10 {
			t.Errorf("%s: %d bytes are allocated to read %d", name, got, len(binary))
		}
	}
}

// TestWhatIsReadTakesLittleMoreThanTheModule checks that whatever the caps on sections'
// elements do not limit takes no more than a few times the module's size. It measures what
// the whole process allocates.
func TestWhatIsReadTakesLittleMoreThanTheModule(t *testing.T) {
	const size = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	const number = "\x80\x80\x40" // 2^20
	body := func(text string) []byte {
		return of(oneType, oneFunction, section(10, "\x01"+string(binary.AppendUvarint(nil, uint64(len(text))))+text))
	}
	for name, binary := range map[string][]byte{
		"custom sections":  of(repeat("\x00\x01\x00")),
		"parameters":       of(section(1, "\x01\x60"+number+repeat("\x7f")+"\x00")),
		"elements":         of(oneType, oneFunction, section(9, "\x01\x01\x00"+number+repeat("\x00")), oneBody),
		"expressions":      of(section(9, "\x01\x05\x70\xd5\xaa\x15"+repeat("\xd0\x70\x0b"))),
		"empty ones":       of(section(9, "\x01\x05\x70"+number+repeat("\x0b"))),
		"groups of locals": body("\x80\x80\x20" + repeat("\x00\x7f") + "\x0b"),
		"labels":           body("\x00\x41\x00\x0e\xff\xff\x3f" + repeat("\x00") + "\x0b"),
	} {
		got := allocated(binary)
		t.Logf("%s: %d bytes are allocated to read %d", name, got, len(binary))
		if got > 64*size {
			t.Errorf("%s: %d bytes are allocated to read %d", name, got, len(binary))
		}
	}
}
