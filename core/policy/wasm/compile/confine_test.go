package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAChildIsConfined(t *testing.T) {
	t.Setenv("WARDLET_TEST_SECRET", "kept from the child")
	// The process that starts the agent may have left a file open, as some do.
	leaked, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	check(t, err)
	defer func() { check(t, unix.Close(leaked)) }()
	f := library(t, t.TempDir()+"/cache", acting("confined"), limited(Limits{CPU: 1500 * time.Millisecond}))
	dir := t.TempDir()
	end, err := f.cache.children.run(t.Context(), dir, digestOf(small(1)), small(1), func(func() time.Duration, func()) {})
	check(t, err)
	var got facts
	if err := json.Unmarshal(end.stderr, &got); err != nil || end.status.ExitStatus() != 7 {
		t.Fatalf("%v: %d, %s", err, end.status, end.stderr)
	}
	environment := slices.Clone(childEnvironment)
	if !slices.Equal(got.Environment, environment) || slices.ContainsFunc(environment, func(v string) bool { return !strings.HasPrefix(v, "GO") }) {
		t.Errorf("environment %v", got.Environment)
	}
	// With cgo, which the race detector needs, only one thread drops the privileges, and the
	// test may read the status of another.
	noPrivileges := got.NoNewPrivs == "1" || slow
	for what, ok := range map[string]bool{
		"files":          slices.Equal(got.Files, []string{"0", "1", "2"}),
		"directory":      got.Directory == "/",
		"niceness":       slices.Equal(got.Nices, []int{19}),
		"address space":  got.AS == 1<<30,
		"processor time": got.CPU == 2,
		"core":           got.Core == 0,
		"file size":      got.Max == 64<<20,
		"new privileges": noPrivileges,
		"out of memory":  got.OOM == "1000",
		"process group":  got.Group == 0,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestLimitsAreRaisedAboveNothing(t *testing.T) {
	t.Parallel()
	l := Limits{CPU: 1, Code: 5}.withDefaults()
	if l.cpuSeconds() != 1 || l.Code != 5 || l.Memory != 1<<30 || l.Wall != 10 {
		t.Errorf("limits %+v", l)
	}
	for _, bad := range []Limits{{Memory: -1}, {CPU: -1}, {Wall: -1}, {Code: -1}, {LoadCPU: -1}, {LoadMemory: -1}} {
		if _, err := tryLibrary(t, t.TempDir()+"/cache", limited(bad)); err == nil || !strings.Contains(err.Error(), "none may be negative") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestNothingIsLeftOfChildren checks that children leave no open files, zombies or files on
// disk.
func TestNothingIsLeftOfChildren(t *testing.T) {
	f := library(t, t.TempDir()+"/cache")
	round := func(n int32) {
		code := acquire(t, f, small(n))
		code.Release()
		if _, err := f.Acquire(t.Context(), "", Whole([]byte{byte(n)})); err == nil {
			t.Error("compiled")
		}
	}
	round(0)
	before := openFiles(t)
	for n := range int32(20) {
		round(n)
	}
	if after := openFiles(t); !slices.Equal(after, before) {
		t.Errorf("files before %v\nand after %v", before, after)
	}
	var status unix.WaitStatus
	if pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil); err == nil {
		t.Errorf("a zombie or a child is left: %d", pid)
	}
	f.isClean(t)
}

// openFiles returns the targets of this process's open files.
func openFiles(t *testing.T) (files []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "/proc/") {
			files = append(files, to)
		}
	}
	slices.Sort(files)
	return files
}

func TestAUserWhoStartsAChildIsTold(t *testing.T) {
	t.Parallel()
	cmd := command(t)
	cmd.Args = []string{"wardlet", childArgument}
	cmd.Stdin = strings.NewReader("hello\n")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != statusNot || !strings.Contains(stdout.String(), "only the agent starts this command") {
		t.Errorf("%v: %s", err, &stdout)
	}
}
