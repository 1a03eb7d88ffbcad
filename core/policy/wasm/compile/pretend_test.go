package compile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"
)

// pretend plays the part of a child, or of another agent, that a test has named in the
// arguments.
func pretend() (status int, pretends bool) {
	if len(os.Args) < 3 || os.Args[1] != "pretend" {
		return 0, false
	}
	part, rest := os.Args[2], os.Args[3:]
	if os.Args = os.Args[:1]; !strings.HasPrefix(part, "agent") {
		os.Args = []string{os.Args[0], childArgument}
	}
	switch part {
	case "counted": // a child that appends a byte to a file
		f, err := os.OpenFile(rest[0], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err == nil {
			_, err = f.Write([]byte("."))
		}
		if err != nil {
			return 1, true
		}
		_ = f.Close()
		return Child(config)
	case "announced": // a child that writes its process ID to a pipe
		announce(rest[0])
		return Child(config)
	case "interpreted": // a child on a machine without a compiler
		return Child(func(bool) wazero.RuntimeConfig { return config(true) })
	case "compiled": // a child that always compiles, even if it is asked to interpret
		return Child(func(bool) wazero.RuntimeConfig { return config(false) })
	case "asleep": // a child that does nothing
		announce(rest[0])
		for { // Go's own signals interrupt a pause
			_ = syscall.Pause()
		}
	case "struck": // a child that is hit by a signal
		n, _ := strconv.Atoi(rest[0])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		time.Sleep(time.Minute)
		return 0, true
	case "saying": // a child with this exit status, standard output and standard error
		_, _ = io.Copy(io.Discard, os.Stdin)
		status, _ := strconv.Atoi(rest[0])
		fmt.Fprint(os.Stdout, rest[1])
		fmt.Fprint(os.Stderr, rest[2])
		return status, true
	case "disk full": // a child that can write to the spare directory only
		t, err := readTask(bufio.NewReaderSize(os.Stdin, maxLine))
		if err != nil {
			return 1, true
		}
		if !strings.Contains(t.Dir, "/spare/") {
			return (&report{Failed: true, Disk: true, Text: "no space left on device"}).deliver(), true
		}
		if err := compileInto(t.Dir, config(false), small(2)); err != nil {
			return 1, true
		}
		made, err := finish(t.Dir, config(false), small(2))
		if err != nil {
			return 1, true
		}
		return (&report{codeFiles: made}).deliver(), true
	case "flooding": // a child that writes output without end, and compiles
		flood := []byte(strings.Repeat("x", 1<<20))
		_, _ = os.Stderr.Write(flood)
		return Child(config)
	case "confined": // a child that reports its restrictions
		return confined(), true
	case "agent": // an agent whose children write their process IDs
		return agent(rest[0], []string{"/proc/self/exe", "pretend", "asleep", rest[1]}), true
	case "agent that works":
		return agent(rest[0], nil), true
	}
	return 1, true
}

func announce(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
		_ = f.Close()
	}
}

// agent acquires ten modules, in a process of its own, and prints that they run.
func agent(dir string, command []string) int {
	cache, err := Open(dir, Options{Config: config, Priority: Normal, Command: command, Spare: []string{filepath.Dir(dir)}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, cache.RuntimeConfig())
	l := NewLibrary(cache, r)
	for i := range int32(10) {
		code, err := l.Acquire(ctx, "", Whole(small(i)))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		code.Release()
	}
	if err := r.Close(ctx); err != nil || cache.Close() != nil {
		return 1
	}
	fmt.Println("ten plugins")
	return 0
}

// facts are what a child finds out about its restrictions.
type facts struct {
	Files, Environment []string
	Directory          string
	Policies, Nices    []int
	AS, CPU, Core, Max uint64
	NoNewPrivs, OOM    string
	// Group is the process ID minus the ID of the process's group.
	Group int
}

func confined() int {
	t, err := readTask(bufio.NewReaderSize(os.Stdin, maxLine))
	if err == nil {
		err = detach()
	}
	base, fault := addressSpace()
	if err == nil && fault == nil {
		err = yieldToAll()
	}
	if err == nil {
		err = confine(t.Limits, base)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var f facts
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 { // left open by the process that started this one
			f.Files = append(f.Files, e.Name())
		}
	}
	f.Environment = os.Environ()
	f.Directory, _ = os.Getwd()
	threads, _ := os.ReadDir("/proc/self/task")
	for _, e := range threads {
		thread, _ := strconv.Atoi(e.Name())
		attr, err := unix.SchedGetAttr(thread, 0)
		if err == nil {
			f.Policies, f.Nices = append(f.Policies, int(attr.Policy)), append(f.Nices, int(attr.Nice))
		}
	}
	f.Policies, f.Nices = slices.Compact(f.Policies), slices.Compact(f.Nices)
	for resource, to := range map[int]*uint64{
		unix.RLIMIT_AS: &f.AS, unix.RLIMIT_CPU: &f.CPU, unix.RLIMIT_CORE: &f.Core, unix.RLIMIT_FSIZE: &f.Max,
	} {
		var limit unix.Rlimit
		_ = unix.Getrlimit(resource, &limit)
		*to = limit.Max
		if resource == unix.RLIMIT_CPU { // the soft limit, which sends the signal; the hard one is 2 s later
			*to = limit.Cur
		}
	}
	f.AS -= uint64(base)
	if text, err := os.ReadFile("/proc/thread-self/status"); err == nil {
		_, after, _ := strings.Cut(string(text), "NoNewPrivs:")
		f.NoNewPrivs = strings.Fields(after + " -")[0]
	}
	if text, err := os.ReadFile("/proc/self/oom_score_adj"); err == nil {
		f.OOM = strings.TrimSpace(string(text))
	}
	f.Group = unix.Getpid() - func() int { group, _ := unix.Getpgid(0); return group }()
	line, _ := json.Marshal(f)
	fmt.Fprintln(os.Stderr, string(line))
	return 7
}
