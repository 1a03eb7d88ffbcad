package compile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tetratelabs/wazero"
)

// Options configure a Cache. A zero field means its default.
type Options struct {
	// Config returns the configuration with which modules are compiled and loaded,
	// without a cache: for wazero's interpreter if interpreted is true, else for
	// the best engine on this machine. The same function must be passed to Child.
	// Required.
	Config func(interpreted bool) wazero.RuntimeConfig
	// Interpreted makes wazero interpret modules even if it has a compiler.
	Interpreted bool
	// Limits apply to each compilation.
	Limits Limits
	// PerHour is the processor time that compilations for the modules of each
	// tenant may use in an hour. A tenant may save up the time of one hour. A
	// tenant that is not in the map has no limit.
	PerHour map[string]time.Duration
	// MaxBytes is the most that compiled code may occupy on the disk. The code that
	// was used least recently is removed first. Code in use is not removed, even if
	// it exceeds the limit. Default 512 MiB.
	MaxBytes int64
	// MaxRefused is how many refusals are kept. Default 4096.
	MaxRefused int
	// Revision identifies everything that the judgement on a module depends on,
	// apart from Limits and the version of wazero. Refusals under another revision
	// are void.
	Revision string
	// Priority is the priority of children. Default Lowest.
	Priority Priority
	// Command is the command that starts a child. Default: this executable, with
	// the argument that Child expects.
	Command []string
	// Spare are the directories in which a private directory is made if the cache's
	// own cannot be written to. Default /dev/shm, then os.TempDir.
	Spare []string
	// Now is the wall clock. Default time.Now.
	Now func() time.Time
	// Log is the logger for faults of the cache. Default slog.Default.
	Log *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	o.Limits = o.Limits.withDefaults()
	if o.MaxBytes == 0 {
		o.MaxBytes = 512 << 20
	}
	if o.MaxRefused == 0 {
		o.MaxRefused = 4096
	}
	if o.Command == nil {
		// This works even if the file was replaced by another version after the
		// start.
		o.Command = []string{"/proc/self/exe", childArgument}
	}
	if o.Spare == nil {
		o.Spare = []string{"/dev/shm", os.TempDir()}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	switch {
	case o.Config == nil:
		return o, errors.New("no configuration for compiled plugins")
	case o.MaxBytes < 0 || o.MaxRefused < 1:
		return o, fmt.Errorf("cache of compiled plugins of %d bytes and %d refusals: at least 0 and 1", o.MaxBytes, o.MaxRefused)
	}
	return o, o.Limits.check()
}

// Limits bound the compilation of one module. A zero field means its default.
type Limits struct {
	// Memory is the address space, in bytes, in addition to that of the child at
	// its start: Go's runtime alone reserves more than a GiB that it never touches.
	// Default 1 GiB.
	Memory int64 `json:"memory"`
	// CPU is the processor time, in whole seconds, rounded up. Default 30 s.
	CPU time.Duration `json:"cpu"`
	// Wall is the time by the clock after which a compilation is given up. The
	// module is not refused for it. Default ten times CPU.
	Wall time.Duration `json:"wall"`
	// Code is the size of the compiled code, in bytes. Default 64 MiB.
	Code int64 `json:"code"`
	// LoadCPU is the processor time that loading the finished code may use, because
	// the agent will do that itself. Default 2 s.
	LoadCPU time.Duration `json:"loadCPU"`
	// LoadMemory is what Go may allocate to load the code, in bytes, without the
	// code itself. Default 256 MiB.
	LoadMemory int64 `json:"loadMemory"`
}

func (l Limits) withDefaults() Limits {
	byDefault := Limits{
		Memory: 1 << 30, CPU: 30 * time.Second,
		Code: 64 << 20, LoadCPU: 2 * time.Second, LoadMemory: 256 << 20,
	}
	l.Memory = orDefault(l.Memory, byDefault.Memory)
	l.CPU = orDefault(l.CPU, byDefault.CPU)
	l.Wall = orDefault(l.Wall, 10*l.CPU)
	l.Code = orDefault(l.Code, byDefault.Code)
	l.LoadCPU = orDefault(l.LoadCPU, byDefault.LoadCPU)
	l.LoadMemory = orDefault(l.LoadMemory, byDefault.LoadMemory)
	return l
}

func orDefault[N int | int64 | time.Duration](n, byDefault N) N {
	if n == 0 {
		return byDefault
	}
	return n
}

func (l Limits) check() error {
	if min(l.Memory, l.Code, l.LoadMemory, int64(l.CPU), int64(l.Wall), int64(l.LoadCPU)) < 0 {
		return fmt.Errorf("limits of compilation %+v: none may be negative", l)
	}
	return nil
}

// cpuSeconds returns the limit of processor time in the unit of the kernel.
func (l Limits) cpuSeconds() uint64 {
	return uint64((l.CPU + time.Second - 1) / time.Second)
}

// childArgument is the only argument of a child process.
const childArgument = "compile-plugin"

// Priority is the scheduling priority of a child.
type Priority int

// The priorities.
const (
	// Lowest is the lowest priority with which a child still makes progress.
	// SCHED_IDLE would stop it on a node that is never idle.
	Lowest Priority = iota
	// Normal is the priority of the agent. It is for tests, on machines that are
	// busy with other tests.
	Normal
)
