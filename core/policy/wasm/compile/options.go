package compile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tetratelabs/wazero"
)

// Options are how a Cache works. Fields that are zero are their default.
type Options struct {
	// Config makes the configuration that modules are compiled and loaded with,
	// without a cache: that of wazero's interpreter if it is asked for it, else
	// that of the best engine there is here. The same function must be given to
	// Child. Required.
	Config func(interpreted bool) wazero.RuntimeConfig
	// Interpreted has modules interpreted also where wazero has a compiler.
	Interpreted bool
	// Limits are for each compilation.
	Limits Limits
	// PerHour is what compilations may take of a processor in an hour for the
	// modules of each tenant, which may save up an hour's. Tenants that are not in
	// it may take any time.
	PerHour map[string]time.Duration
	// MaxBytes is the most that compiled code may take on the disk; what was used
	// least recently goes first. Code in use stays and may exceed it. Default
	// 512 MiB.
	MaxBytes int64
	// MaxRefused is how many refused modules are remembered. Default 4096.
	MaxRefused int
	// Revision stands for all that the judgement on a module depends on beside
	// Limits and the version of wazero: refusals under another one are void.
	Revision string
	// Priority is that of children. Default Lowest.
	Priority Priority
	// Command starts a child. Default: this executable, with the argument that
	// Child looks for.
	Command []string
	// Spare are the directories in which a private one is made when the cache's
	// own cannot be written to. Default /dev/shm, then os.TempDir.
	Spare []string
	// Now is the wall clock. Default time.Now.
	Now func() time.Time
	// Log gets a line when the cache does not work as it should. Default slog's.
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
		// Also where the file was replaced since by that of another version.
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

// Limits are what the compilation of one module may take. A field that is zero
// is the default.
type Limits struct {
	// Memory is the address space, in bytes, beyond what the child has when it
	// starts: Go's runtime alone reserves more than a GiB that it never touches.
	// Default 1 GiB.
	Memory int64 `json:"memory"`
	// CPU is the processor time, in whole seconds, rounded up. Default 30 s.
	CPU time.Duration `json:"cpu"`
	// Wall is the time from start to end, after which a try is given up. That is not
	// held against the module. Default ten times CPU.
	Wall time.Duration `json:"wall"`
	// Code is the size of the compiled code, in bytes. Default 64 MiB.
	Code int64 `json:"code"`
	// LoadCPU is the processor time that reading the finished code back may take:
	// the agent will do that itself. Default 2 s.
	LoadCPU time.Duration `json:"loadCPU"`
	// LoadMemory is what Go may allocate meanwhile, in bytes, the code itself not
	// counted. Default 256 MiB.
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

// cpuSeconds is the limit as the kernel takes it.
func (l Limits) cpuSeconds() uint64 {
	return uint64((l.CPU + time.Second - 1) / time.Second)
}
