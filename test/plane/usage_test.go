package plane

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// bookkeeping is for how many entries the tests allocate memory at the beginning, so that their
// own records of questions and pods do not look like growth of the plane.
const bookkeeping = 1 << 13

// usage are the resources that the process holds.
type usage struct {
	goroutines, files int
	// resident is the memory that only this process uses. heap is how much of it live objects use, and
	// guests how much snapshots use. All are in bytes.
	resident, heap, guests int64
}

func (u usage) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("%d goroutines, %d files, %.1f MiB resident, of which live objects %.1f MiB and snapshots %.1f MiB",
		u.goroutines, u.files, float64(u.resident)/mib, float64(u.heap)/mib, float64(u.guests)/mib)
}

func used(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	debug.FreeOSMemory() // frees what the first collection finalised
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	u := usage{heap: int64(stats.HeapAlloc), guests: memory.Usage().Committed} // HeapAlloc is far below the largest int64
	u.resident = owned(t)
	u.goroutines, u.files = opened(t)
	for range 20 { // goroutines that are stopping get some time
		time.Sleep(50 * time.Millisecond)
		goroutines, files := opened(t)
		u.goroutines, u.files = min(u.goroutines, goroutines), min(u.files, files)
		debug.FreeOSMemory() // in the background the runtime frees memory that it had just begun to use
		u.resident = min(u.resident, owned(t))
	}
	return u
}

// owned returns the resident memory without the pages of files, which the kernel can drop.
// More pages of the program itself become resident with each fault that a set has for the first
// time.
func owned(t *testing.T) (bytes int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	must(t, err)
	found := regexp.MustCompile(`(?m)^Rss(?:Anon|Shmem):\s+(\d+) kB$`).FindAllStringSubmatch(string(text), -1)
	if len(found) != 2 {
		t.Fatalf("%d of 2 kinds of memory in\n%s", len(found), text)
	}
	for _, kind := range found {
		n, err := strconv.ParseInt(kind[1], 10, 64)
		must(t, err)
		bytes += n << 10
	}
	return bytes
}

// opened returns the number of goroutines and of open files of the process.
func opened(t *testing.T) (goroutines, files int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return runtime.NumGoroutine(), len(entries)
}
