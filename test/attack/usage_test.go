package attack

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what the process has used so far: processor time, bytes that Go allocated, and page
// faults.
type usage struct {
	cpu       time.Duration
	allocated uint64
	faults    int64
}

func used(t *testing.T) usage {
	t.Helper()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano()), allocated: m.TotalAlloc, faults: r.Minflt}
}

// since returns the usage since u.
func (u usage) since(t *testing.T) usage {
	t.Helper()
	now := used(t)
	return usage{cpu: now.cpu - u.cpu, allocated: now.allocated - u.allocated, faults: now.faults - u.faults}
}

// faultCPU is the time of a page fault on this machine: half a microsecond, or 20 times as long on
// a virtual machine whose host handles each fault.
var faultCPU = sync.OnceValue(func() time.Duration {
	const size = 16 << 20
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Munmap(memory) }() // it is a mapping
	begun := time.Now()
	for at := 0; at < size; at += os.Getpagesize() {
		memory[at] = 1
	}
	return time.Since(begun) / time.Duration(size/os.Getpagesize())
})

// Bounds for one load or question. They are far above the cost of honest work, and far below the
// cost of an attack that is not stopped.
const (
	// maxLoad is the processor time of a load without the compiling in a child: that of an
	// initialisation that uses up its fuel.
	maxLoad = 5 * time.Second
	// maxLoadBytes is how much Go may allocate for a load.
	maxLoadBytes = 1 << 30
	// baseBytes is how much Go may allocate for a question without fuel, including a new instance;
	// bytesPerUnit is how much more for each unit of fuel.
	baseBytes    = 8 << 20
	bytesPerUnit = 4
	// baseCPU is the processor time of a question without fuel: a new instance, and the collection
	// of other garbage.
	baseCPU = 60 * time.Millisecond
	// baseFaults is the number of page faults that Go may cause meanwhile.
	baseFaults = 20_000
	// cpuPerUnit is the most time per unit of fuel, a hundred times its usual time.
	cpuPerUnit = 40 * time.Nanosecond
)

// bound returns the most that a question to m may use, on an engine slower than the compiler by the
// factor slower.
func bound(m *Module, slower int) usage {
	return usage{
		cpu:       slowdown * (baseCPU + time.Duration(slower)*time.Duration(m.Fuel())*cpuPerUnit),
		allocated: baseBytes + bytesPerUnit*uint64(m.Fuel()),
		faults:    baseFaults + 2*int64(m.pages)*wasmPage/int64(os.Getpagesize()),
	}
}

// wasmPage is a page of linear memory, in bytes.
const wasmPage = 64 << 10

// beyond reports whether more was used than allowed, apart from the time of page faults, which
// depends on the machine.
func (u usage) beyond(most usage) bool {
	return u.cpu-2*time.Duration(u.faults)*faultCPU() > most.cpu || u.allocated > most.allocated || u.faults > most.faults
}

// open counts the process's goroutines, descriptors, and mappings of guests' memory.
type open struct{ goroutines, files, memories int }

// beyond reports whether more is open than before.
func (o open) beyond(was open) bool {
	return o.goroutines > was.goroutines || o.files > was.files || o.memories > was.memories
}

// leak returns what is open, and whether that is more than before. Terminating goroutines have some
// time to end.
func leak(t *testing.T, before open) (now open, leaks bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		now = opened(t)
		if leaks = now.beyond(before); !leaks || time.Now().After(deadline) {
			return now, leaks
		}
	}
}

func opened(t *testing.T) open {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return open{goroutines: runtime.NumGoroutine(), files: len(files), memories: strings.Count(string(maps), "memfd:")}
}
