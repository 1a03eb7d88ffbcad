package compile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// These are the exit statuses of a child that wrote a report. Go's runtime exits
// with 2.
const (
	statusCompiled = 0
	statusNot      = 10
)

// Child compiles a module if this process was started as a child, and returns the
// exit status; otherwise it does nothing. It must be called before anything else in
// main, and in TestMain of packages that load plugins. config is the same function
// as in Options.
func Child(config func(interpreted bool) wazero.RuntimeConfig) (status int, isChild bool) {
	if !startedAsChild() {
		return 0, false
	}
	overdue := make(chan os.Signal, 1)
	signal.Notify(overdue, syscall.SIGXCPU)
	done := make(chan *report, 1)
	go func() { done <- work(os.Stdin, config) }()
	var r *report
	select {
	case r = <-done:
	case <-overdue:
		r = &report{Refused: CPU, Text: fmt.Sprintf("it takes more than %v of processor time to compile", cpuTime().Truncate(time.Second))}
	}
	return r.deliver(), true
}

// startedAsChild reports whether this process was started to compile a module.
func startedAsChild() bool { return len(os.Args) == 2 && os.Args[1] == childArgument }

// errNotChild keeps a program that does not call Child from starting itself without end.
var errNotChild = errors.New("this process was started to compile a plugin, and its main does not call Child first")

// deliver writes the report to the parent process, and returns the exit status that
// matches it.
func (r *report) deliver() int {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "the report cannot be written:", err)
		return 1
	case r.Failed || r.Refused != "":
		return statusNot
	}
	return statusCompiled
}

// work reads a task and its module, and compiles the module.
func work(input io.Reader, config func(interpreted bool) wazero.RuntimeConfig) *report {
	failed := func(err error) *report { return &report{Failed: true, Text: oneLine(err.Error())} }
	if err := detach(); err != nil {
		return failed(err)
	}
	reader := bufio.NewReaderSize(input, maxLine)
	t, err := readTask(reader)
	if err != nil {
		return failed(fmt.Errorf("%w (only the agent starts this command)", err))
	}
	base, err := addressSpace()
	if err != nil {
		return failed(err)
	}
	if t.Priority == Lowest {
		if err := yieldToAll(); err != nil {
			return failed(err)
		}
	}
	if err := confine(t.Limits, base); err != nil {
		return failed(err)
	}
	module, err := t.readModule(reader)
	if err != nil {
		return failed(err)
	}
	if err := compileInto(t.Dir, config(t.Interpreted), module); err != nil {
		return blame(err, t.Limits)
	}
	r := &report{}
	if r.codeFiles, err = finish(t.Dir, config(t.Interpreted), module); err != nil {
		return &report{Failed: true, Disk: isDiskFault(err), Text: oneLine(err.Error())}
	}
	if r.Shell != nil {
		if module, err = r.Shell.read(t.Dir); err != nil {
			return &report{Failed: true, Disk: isDiskFault(err), Text: oneLine(err.Error())}
		}
	}
	r.Cost.CPU = cpuTime()
	if r.Image, err = loadAsAgent(t.Dir, config(t.Interpreted), module, &r.Cost); err != nil {
		if r := blame(err, t.Limits); r.Refused != Invalid {
			return r
		}
		return &report{Refused: Crash, Text: oneLine("what the compiler made of it cannot be loaded: " + err.Error())}
	}
	if r.Refused, r.Text = tooDear(&r.Cost, t.Limits); r.Refused != "" {
		return r
	}
	now, err := addressSpace()
	if err != nil {
		return failed(err)
	}
	r.Cost.Peak, r.Cost.Mapped = peakMemory(), now-base
	return r
}

// compileInto compiles a module and leaves its code in dir.
func compileInto(dir string, config wazero.RuntimeConfig, module []byte) error {
	ctx := experimental.WithCompilationWorkers(context.Background(), 1)
	return withCache(ctx, dir, config, func(r wazero.Runtime) error {
		_, err := r.CompileModule(ctx, module)
		return err
	})
}

// loadAsAgent loads the compiled code as the agent will do, measures what that costs,
// and writes the image of the loaded code.
func loadAsAgent(dir string, config wazero.RuntimeConfig, module []byte, cost *Cost) (image *codeFile, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cpuTime()
	ctx := neverCompile(context.Background())
	err = withCache(ctx, dir, config, func(r wazero.Runtime) error {
		loaded, err := r.CompileModule(ctx, module)
		cost.LoadCPU = cpuTime() - began
		runtime.ReadMemStats(&after)
		cost.LoadMemory = int64(after.TotalAlloc - before.TotalAlloc)
		if err == nil {
			image, err = writeImage(dir, loaded)
		}
		return err
	})
	return image, err
}

// tooDear returns a reason and a text if loading the code exceeds the limits.
func tooDear(c *Cost, l Limits) (Reason, string) {
	switch {
	case c.LoadCPU > l.LoadCPU:
		return CPU, fmt.Sprintf("it takes %v of processor time to load its compiled code, at most %v are allowed",
			c.LoadCPU.Round(time.Millisecond), l.LoadCPU)
	case c.LoadMemory > l.LoadMemory:
		return Memory, fmt.Sprintf("it takes %d bytes to load its compiled code, at most %d are allowed", c.LoadMemory, l.LoadMemory)
	}
	return "", ""
}

func withCache(ctx context.Context, dir string, config wazero.RuntimeConfig, do func(wazero.Runtime) error) error {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return &fs.PathError{Op: "make", Path: dir, Err: err}
	}
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCompilationCache(cache))
	return errors.Join(do(r), r.Close(ctx), cache.Close(ctx))
}

// blame returns a report that says whether the module, the disk or the machine is
// at fault for an error of the compiler.
func blame(err error, l Limits) *report {
	switch {
	case errors.Is(err, syscall.ENOMEM):
		return &report{Refused: Memory, Text: oneLine(err.Error())}
	case errors.Is(err, syscall.EFBIG):
		return &report{Refused: Memory, Text: fmt.Sprintf("its compiled code has more than %d bytes", l.Code)}
	case isDiskFault(err):
		return &report{Failed: true, Disk: true, Text: oneLine(err.Error())}
	}
	return &report{Refused: Invalid, Text: oneLine(err.Error())}
}

// isDiskFault reports whether a file operation caused an error.
func isDiskFault(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// cpuTime returns the processor time that this process has used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
