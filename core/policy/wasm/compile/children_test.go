package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func digestOf(module []byte) Digest { return sha256.Sum256(module) }

// command returns this test program as a process that plays a part known to pretend.
func command(t *testing.T, part ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"pretend"}, part...)...)
}

func makeFifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	check(t, unix.Mkfifo(path, 0o600))
	return path
}

// announced waits until a process writes its ID, and returns a handle on the process.
func announced(t *testing.T, fifo string) int {
	t.Helper()
	f, err := os.Open(fifo) // blocks until a process opens it to write
	check(t, err)
	defer f.Close()
	var pid int
	if _, err := fmt.Fscan(f, &pid); err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatal(err)
	}
	if err != nil {
		return -1
	}
	t.Cleanup(func() { check(t, unix.Close(handle)) })
	return handle
}

// ends runs functions that must terminate a process, and waits until the process has terminated.
func ends(t *testing.T, process int, end ...func()) {
	t.Helper()
	for _, do := range end {
		if process < 0 {
			t.Error("it had ended before")
		}
		do()
	}
	if process < 0 {
		return
	}
	events := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(events, 60_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != 1 {
			t.Errorf("it lives on: %d, %v", n, err)
		}
		return
	}
}

// isRefused checks that a module is refused for this reason, and that the next attempt, also
// by another agent, is refused at once.
func isRefused(t *testing.T, f *fixture, module []byte, reason Reason, text string) {
	t.Helper()
	_, err := f.Acquire(t.Context(), "a", Whole(module))
	refused, ok := errors.AsType[*Refused](err)
	if !ok || refused.Reason != reason || !strings.Contains(refused.Text, text) {
		t.Fatalf("error %v\nwant %s: %s", err, reason, text)
	}
	if !refused.At.Equal(testTime) || refused.Digest != digestOf(module) {
		t.Errorf("refused %+v", refused)
	}
	f.isClean(t)
	f.pass(1)
	next := library(t, f.dir, func(o *Options) {
		o.Limits, o.Command = f.cache.options.Limits, []string{"/nowhere/it is not started again"}
		o.Config, o.Interpreted = f.cache.options.Config, f.cache.options.Interpreted
	})
	_, again := next.Acquire(t.Context(), "b", Whole(module))
	if other, ok := errors.AsType[*Refused](again); !ok || *other != *refused {
		t.Errorf("the next time: %v, want %v", again, err)
	}
}

// failsForNow checks that a module is not compiled, and that no refusal of the module is
// stored.
func failsForNow(t *testing.T, f *fixture, module []byte, text string) {
	t.Helper()
	_, err := f.Acquire(t.Context(), "a", Whole(module))
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v\nwant %s", err, text)
	}
	if _, ok := errors.AsType[*Refused](err); ok || f.cache.Refused(digestOf(module)) != nil {
		t.Fatalf("the module is blamed: %v", err)
	}
	f.isClean(t)
	f.cache.children.command = []string{"/proc/self/exe", childArgument}
	f.cache.children.limits = Limits{}.withDefaults()
	code := acquire(t, f, module)
	code.Release()
}

func TestAModuleThatKillsItsChildIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		part   []string
		reason Reason
		text   string
	}{
		"a segmentation fault":   {[]string{"struck", "11"}, Crash, "the compiler ended with status 2; it said: \"SIGSEGV: segmentation violation\""},
		"Go has no memory":       {[]string{"saying", "2", "", "fatal error: runtime: out of memory\n\ngoroutine 1"}, Memory, "runtime: out of memory"},
		"threads have no memory": {[]string{"saying", "2", "", "runtime: failed to create new OS thread (have 5 already; errno=12)"}, Memory, "failed to create"},
		"a panic":                {[]string{"saying", "2", "", "\npanic: BUG\a: index out of range\n\nmore"}, Crash, `ended with status 2; it said: "panic: BUG\\a: index out of range"`},
		"it says so":             {[]string{"saying", "10", `{"refused":"cpu","text":"slow\nvery"}` + "\n", ""}, CPU, "slow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := library(t, t.TempDir()+"/cache", acting(test.part...))
			isRefused(t, f, small(1), test.reason, test.text)
		})
	}
}

func TestAFailureOfTheMachineIsNotHeldAgainstTheModule(t *testing.T) {
	t.Parallel()
	said := func(status, report string) []string {
		return []string{"/proc/self/exe", "pretend", "saying", status, report, ""}
	}
	for name, test := range map[string]struct {
		command []string
		limits  Limits
		text    string
	}{
		"no such program":                {[]string{"/nowhere/wardlet"}, Limits{}, "no such file"},
		"a program that is none":         {[]string{"/dev/null"}, Limits{}, "permission denied"},
		"killed from outside":            {[]string{"/proc/self/exe", "pretend", "struck", "9"}, Limits{}, "killed from outside"},
		"ended from outside":             {[]string{"/proc/self/exe", "pretend", "struck", "15"}, Limits{}, "ended from outside (terminated)"},
		"it gets no processor":           {[]string{"/proc/self/exe", "pretend", "asleep", "/dev/null"}, Limits{Wall: 1e9}, "the node is busy, try again"},
		"no report":                      {said("0", ""), Limits{}, "it wrote 0 bytes that are no report"},
		"a report that is none":          {said("0", "ready\n"), Limits{}, "its report is not JSON"},
		"two reports":                    {said("0", "{}\n{}\n"), Limits{}, "that are no report"},
		"an unknown reason":              {said("10", `{"refused":"mood"}`+"\n"), Limits{}, `an unknown reason "mood"`},
		"a report that does not fit":     {said("0", `{"refused":"cpu"}`+"\n"), Limits{}, "does not fit its exit status 0"},
		"another that does not":          {said("10", `{}`+"\n"), Limits{}, "does not fit its exit status 10"},
		"the machine failed it":          {said("10", `{"failed":true,"text":"no /proc"}`+"\n"), Limits{}, "no /proc"},
		"files that lead elsewhere":      {said("0", `{"files":[{"name":"../../etc/passwd"}],"shell":{"name":"shell.wasm"}}`+"\n"), Limits{}, `a file of code "../../etc/passwd"`},
		"a shell that lies elsewhere":    {said("0", `{"files":[{"name":"a"}],"shell":{"name":"../../etc/passwd"}}`+"\n"), Limits{}, `a shell "../../etc/passwd"`},
		"code without a shell":           {said("0", `{"files":[{"name":"a"}]}`+"\n"), Limits{}, "1 files of code, and a shell: false"},
		"code that it did not make":      {said("0", `{"files":[{"name":"wazero-x/`+strings.Repeat("a", 64)+`","size":1}],"shell":{"name":"shell.wasm"}}`+"\n"), Limits{}, "has not made what it reports"},
		"nothing, and it says all is in": {said("0", "{}\n"), Limits{}, "was compiled 2 times and is not in the cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := library(t, t.TempDir()+"/cache", limited(test.limits), func(o *Options) { o.Command = test.command })
			failsForNow(t, f, small(1), test.text)
		})
	}
}

func TestATenantPaysForChildrenThatAreKilled(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", acting("struck", "9"), func(o *Options) { o.PerHour = map[string]time.Duration{"a": 1} })
	for n, spent := range []bool{false, true} {
		_, err := f.Acquire(t.Context(), "a", Whole(small(1)))
		if _, ok := errors.AsType[*Spent](err); err == nil || ok != spent {
			t.Errorf("try %d: %v, want one that is spent: %t", n, err, spent)
		}
	}
}

func TestOnlyTheBeginningOfWhatAChildWritesIsKept(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", acting("flooding"))
	code := acquire(t, f, small(3))
	answers(t, f, code, 3)
	code.Release()
	k := kept{most: 5}
	for _, text := range []string{"abc", "defg", "h"} {
		if n, err := k.Write([]byte(text)); n != len(text) || err != nil {
			t.Error(n, err)
		}
	}
	if string(k.data) != "abcde" {
		t.Errorf("kept %q", k.data)
	}
}

func TestAChildKilledInTheMiddleLeavesNothing(t *testing.T) {
	t.Parallel()
	fifo := makeFifo(t)
	f := library(t, t.TempDir()+"/cache", acting("announced", fifo))
	ended := make(chan error, 1)
	go func() {
		_, err := f.Acquire(t.Context(), "", Whole(bomb(1000, 800)))
		ended <- err
	}()
	process := announced(t, fifo)
	ends(t, process, func() { check(t, unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0)) })
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "killed from outside") {
		t.Errorf("error %v", err)
	}
	f.isClean(t)
	isEmpty(t, filepath.Join(f.dir, modulesDir))
}

func TestAChildEndsWithTheAgent(t *testing.T) {
	t.Parallel()
	fifo, dir := makeFifo(t), t.TempDir()+"/cache"
	agent := command(t, "agent", dir, fifo)
	check(t, agent.Start())
	child := announced(t, fifo)
	ends(t, child, func() { check(t, agent.Process.Kill()) })
	if err := agent.Wait(); err == nil {
		t.Error("the agent was not killed")
	}
	// The next agent removes what this one left.
	work := filepath.Join(dir, workDir)
	if left, err := os.ReadDir(work); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	f := library(t, dir)
	if left, err := os.ReadDir(work); err != nil || len(left) != 1 || !strings.HasSuffix(f.cache.primary.private.path, left[0].Name()) {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestTheEndOfTheContextEndsTheChild(t *testing.T) {
	t.Parallel()
	fifo := makeFifo(t)
	f := library(t, t.TempDir()+"/cache", acting("asleep", fifo))
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := f.Acquire(ctx, "", Whole(small(1)))
		ended <- err
	}()
	why := errors.New("the agent ends")
	ends(t, announced(t, fifo), func() { stop(why) })
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	f.isClean(t)
	if f.cache.Refused(digestOf(small(1))) != nil {
		t.Error("it is held against the module")
	}
}

func mkfifo(path string) error { return unix.Mkfifo(path, 0o600) }
