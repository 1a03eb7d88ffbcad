package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable"
)

// These environment variables of a child process name its program, its directory and the step
// at which it is killed.
const (
	childVariable = "WARDLET_STATE_CHILD"
	dirVariable   = "WARDLET_STATE_DIR"
	killVariable  = "WARDLET_STATE_KILL"
)

// These are the points of a step at which a child may be killed.
const (
	before = "before"
	half   = "half"
	after  = "after"
)

// These are the exit codes of a child that is not killed.
const (
	exitDone   = 0
	exitBroken = 20
	exitFailed = 21
)

// runChild runs a program on a state directory and writes its error to the standard output.
func runChild(name string) int {
	d, err := tryOpen(os.Getenv(dirVariable), io.Discard)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBroken
	}
	if at := os.Getenv(killVariable); at != "" {
		d.fs = newKilling(at)
	}
	if err := programs[name](d.Documents()); err != nil {
		fmt.Println(err)
		return exitFailed
	}
	return exitDone
}

// child runs a program in a process of its own. It returns the program's error, and whether the
// process was killed.
func child(t *testing.T, name, dir, kill string) (failure string, killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childVariable+"="+name, dirVariable+"="+dir, killVariable+"="+kill)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return "", true
	case status.ExitStatus() == exitDone, status.ExitStatus() == exitFailed:
		return strings.TrimSpace(out.String()), false
	}
	t.Fatalf("the child ended with %v: %s%s", cmd.ProcessState, &out, &errOut)
	return "", false
}

// killing is the file system of durable.OS that kills the process at one step. Steps run one at
// a time, so no other step is half done at that time.
type killing struct {
	mu       sync.Mutex
	step, at int
	point    string
}

// newKilling parses a text like "before 3".
func newKilling(at string) *killing {
	point, number, _ := strings.Cut(at, " ")
	step, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return &killing{at: step, point: point}
}

func (k *killing) do(step func() error, halfway func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.step++
	if k.step != k.at {
		return step()
	}
	switch k.point {
	case half:
		_ = halfway()
	case after:
		_ = step()
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {}
}

func nothing() error { return nil }

func (k *killing) Create(dir, pattern string) (f durable.File, err error) {
	err = k.do(func() (err error) { f, err = durable.OS{}.Create(dir, pattern); return err }, nothing)
	return &dying{f, k}, err
}

func (k *killing) Rename(from, to string) error {
	return k.do(func() error { return durable.OS{}.Rename(from, to) }, nothing)
}

func (k *killing) SyncDir(dir string) error {
	return k.do(func() error { return durable.OS{}.SyncDir(dir) }, nothing)
}

func (k *killing) Remove(path string) error {
	return k.do(func() error { return durable.OS{}.Remove(path) }, nothing)
}

func (k *killing) AppendTo(path string) (f durable.File, err error) {
	err = k.do(func() (err error) { f, err = durable.OS{}.AppendTo(path); return err }, nothing)
	return &dying{f, k}, err
}

// dying is a file of the file system killing.
type dying struct {
	durable.File

	k *killing
}

func (d *dying) Write(data []byte) (n int, err error) {
	write := func(part []byte) func() error {
		return func() error { n, err = d.File.Write(part); return err }
	}
	err = d.k.do(write(data), write(data[:len(data)/2]))
	return n, err
}

func (d *dying) Sync() error  { return d.k.do(d.File.Sync, nothing) }
func (d *dying) Close() error { return d.k.do(d.File.Close, nothing) }

// limitFileSize limits the size of the files that the process writes to a number of bytes.
func limitFileSize(bytes uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
