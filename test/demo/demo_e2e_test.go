//go:build e2e

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// screenLines is how many lines a screen has.
const screenLines = 40

// demoBinary builds the program. A demo is a process of its own, because the tests send it signals.
func demoBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, out)
	}
	return binary
}

// demo is a running demonstration.
type demo struct {
	*exec.Cmd
	lines *bufio.Scanner
	wrong strings.Builder
	// dir is the directory that it prints as $D.
	dir string
}

// startDemo starts a demo with the output of `make build plugins`.
func startDemo(t *testing.T, binary string) *demo {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("the demo starts containers and needs root: run this as root, or with sudo -E")
	}
	d := &demo{Cmd: exec.CommandContext(t.Context(), binary,
		"-wardlet", "../../build/wardlet", "-policies", "../../build/policies")}
	d.Cancel = func() error { return d.Process.Signal(syscall.SIGTERM) }
	d.Stderr = &d.wrong
	out, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.lines = bufio.NewScanner(out)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

// read returns the next line; false at the end.
func (d *demo) read(t *testing.T) (string, bool) {
	t.Helper()
	if !d.lines.Scan() {
		return "", false
	}
	if _, dir, ok := strings.Cut(d.lines.Text(), " D="); ok {
		d.dir = dir
	}
	return d.lines.Text(), true
}

// expectNothingLeft looks in all places where a demo makes something.
func (d *demo) expectNothingLeft(t *testing.T) {
	t.Helper()
	if d.dir == "" {
		t.Fatal("the demo did not name its directory")
	}
	known, err := privateruntime.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, runtime := range known {
		if runtime.Name == "demo-"+strconv.Itoa(d.Process.Pid) {
			t.Errorf("runtime %s is left", runtime.Name)
		}
	}
	if _, err := os.Stat(d.dir); !os.IsNotExist(err) {
		t.Errorf("directory %s is left: %v", d.dir, err)
	}
	cgroups, err := harness.CgroupsNamed(filepath.Base(d.dir))
	if err != nil || len(cgroups) > 0 {
		t.Errorf("cgroups are left: %v, %v", cgroups, err)
	}
	processes, err := harness.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range processes {
		if command := strings.Join(harness.Arguments(pid), " "); strings.Contains(command, d.dir) {
			t.Errorf("process %d is left: %q", pid, command)
		}
	}
}

func TestTwoDemosAtOnceObserveEverythingOnLessThanAScreen(t *testing.T) {
	t.Parallel()
	binary := demoBinary(t)
	demos := []*demo{startDemo(t, binary), startDemo(t, binary)}
	for _, d := range demos {
		count, last := 0, ""
		for {
			line, more := d.read(t)
			if !more {
				break
			}
			count, last = count+1, line
			if utf8.RuneCountInString(line) > width {
				t.Errorf("longer than %d columns: %s", width, line)
			}
		}
		if err := d.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, d.wrong.String())
		}
		var steps, seconds int
		if _, err := fmt.Sscanf(last, "all %d steps were observed in %d s", &steps, &seconds); err != nil || steps != 7 {
			t.Errorf("the last line is %q: %v", last, err)
		}
		if count > screenLines {
			t.Errorf("printed %d lines, want at most %d", count, screenLines)
		}
		d.expectNothingLeft(t)
	}
}

func TestADemoThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	binary := demoBinary(t)
	for _, at := range []string{"1.", "3.", "4.", "6.", "7."} {
		t.Run("in step "+at, func(t *testing.T) {
			t.Parallel()
			d := startDemo(t, binary)
			for {
				line, more := d.read(t)
				if !more {
					t.Fatalf("it ended before: %s", d.wrong.String())
				}
				if strings.HasPrefix(line, at) {
					break
				}
			}
			for range 3 {
				if err := d.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond) // as if a person pressed ^C again
			}
			if err := drain(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if code := d.ProcessState.ExitCode(); code != 1 || !strings.Contains(d.wrong.String(), "interrupted") {
				t.Errorf("exit status %d, and it said %q", code, d.wrong.String())
			}
			d.expectNothingLeft(t)
		})
	}
}

// drain reads the output to its end and waits for the process.
func drain(ctx context.Context, d *demo) error {
	for d.lines.Scan() {
	}
	// The caller checks the exit status.
	_ = d.Wait()
	return ctx.Err()
}
