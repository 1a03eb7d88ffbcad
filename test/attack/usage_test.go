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

// usage is what the process took so far: processor time, bytes that Go
// allocated, and page faults.
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

// since is what was taken since then.
func (u usage) since(t *testing.T) usage {
	t.Helper()
	now := used(t)
	return usage{cpu: now.cpu - u.cpu, allocated: now.allocated - u.allocated, faults: now.faults - u.faults}
}

// faultCPU is what a page fault takes on this machine: half a microsecond, or 20
// times that on a virtual one whose host has a say in each.
var faultCPU = sync.OnceValue(func() time.Duration {
	const size = 16 << 20
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Munmap(memory) }() // it is mapped
	begun := time.Now()
	for at := 0; at < size; at += os.Getpagesize() {
		memory[at] = 1
	}
	return time.Since(begun) / time.Duration(size/os.Getpagesize())
})

// Bounds of what one load or question may take. They are far above what honest
// work takes, and far below what an attack would that is not stopped.
const (
	// maxLoad is the processor time of a load, of which a child compiles: an
	// initialisation that uses up its fuel.
	maxLoad = 5 * time.Second
	// maxLoadBytes is what Go may allocate for it.
	maxLoadBytes = 1 << 30
	// baseBytes is what Go may allocate for a question without fuel, an instance
	// that must be made anew included; bytesPerUnit what it may for each unit.
	baseBytes    = 8 << 20
	bytesPerUnit = 4
	// baseCPU is the processor time of a question without fuel: a new instance,
	// the collection of garbage that others left.
	baseCPU = 60 * time.Millisecond
	// baseFaults are the page faults that Go may have meanwhile.
	baseFaults = 20_000
	// cpuPerUnit is what a unit of fuel may take, a hundred times of what it
	// does.
	cpuPerUnit = 40 * time.Nanosecond
)

// bound is what a question to m may take, on an engine that is so many times
// slower than the compiler.
func bound(m *Module, slower int) usage {
	return usage{
		cpu:       slowdown * (baseCPU + time.Duration(slower)*time.Duration(m.Fuel())*cpuPerUnit),
		allocated: baseBytes + bytesPerUnit*uint64(m.Fuel()),
		faults:    baseFaults + 2*int64(m.pages)*wasmPage/int64(os.Getpagesize()),
	}
}

// wasmPage is a page of linear memory, in bytes.
const wasmPage = 64 << 10

// beyond says that more was taken than may be, beside the time of page faults,
// which is the machine's.
func (u usage) beyond(most usage) bool {
	return u.cpu-2*time.Duration(u.faults)*faultCPU() > most.cpu || u.allocated > most.allocated || u.faults > most.faults
}

// open are the process's goroutines, descriptors, and maps of guests' memory.
type open struct{ goroutines, files, memories int }

// beyond says that more is open than was.
func (o open) beyond(was open) bool {
	return o.goroutines > was.goroutines || o.files > was.files || o.memories > was.memories
}

// leak returns what is open where that is more than before. What was told to end
// has some time for it.
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
