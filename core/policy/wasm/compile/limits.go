package compile

import (
	"fmt"
	"time"
)

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
