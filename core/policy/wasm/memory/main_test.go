package memory

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// methods are all methods to restore a memory. The kernel of the test machine must support
// them.
var methods = []Method{Scan, Drop, Copy}

// newMemory returns a memory of size bytes that is freed at the end of the test.
func newMemory(tb testing.TB, limit, size int, options ...Option) (*Linear, []byte) {
	tb.Helper()
	l, err := NewLinear(uint64(limit), options...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(l.Free)
	memory := l.Reallocate(uint64(size))
	if len(memory) != size {
		tb.Fatalf("%d bytes of memory, want %d", len(memory), size)
	}
	return l, memory
}

// capture captures a memory; the snapshot is released at the end of the test.
func capture(tb testing.TB, l *Linear) *Snapshot {
	tb.Helper()
	s, err := l.Capture()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Release)
	return s
}

func restore(tb testing.TB, l *Linear) Restored {
	tb.Helper()
	r, err := l.Restore()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// private returns how many private pages a memory has.
func private(tb testing.TB, l *Linear) int {
	tb.Helper()
	n, err := l.Private()
	if err != nil {
		tb.Fatal(err)
	}
	return n / pageSize
}

// content returns size random bytes, with every second page all zeros.
func content(random *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for at := 0; at < size; at += 2 * pageSize {
		for i := range b[at : at+pageSize] {
			b[at+i] = byte(random.Uint32())
		}
	}
	return b
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 1)) }

// without returns an option for a system from which change has removed an ability.
func without(change func(*kernel)) Option {
	k := *system()
	change(&k)
	return func(l *Linear) { l.kernel = &k }
}

// mappings counts the process's mappings of snapshots.
func mappings(tb testing.TB) int {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Count(string(text), "memfd:wardlet-plugin")
}

func openFiles(tb testing.TB) int {
	tb.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(files)
}
