package privateruntime

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestParseStart(t *testing.T) {
	const numbers = " S 1 5 5 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 98765 1000 20 more"
	for _, c := range []struct {
		name, stat, want string
		ok               bool
	}{
		{"plain", "7 (cat)" + numbers, "98765", true},
		{"name with blanks and parentheses", "7 (a ) S (b)" + numbers, "98765", true},
		{"zombie", "7 (cat) Z" + numbers[2:], "", false},
		{"cut short", "7 (cat) S 1 2", "", false},
		{"empty", "", "", false},
	} {
		if got, ok := parseStart(c.stat); got != c.want || ok != c.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// TestKill checks that a process is signalled only while it is the process that was found.
func TestKill(t *testing.T) {
	command := exec.Command("sleep", "987654")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	found := findStarted(t, command)
	other := found[0]
	other.start = "1"
	if err := kill(t.Context(), []process{other}, 0); err != nil || !found[0].alive() {
		t.Errorf("a process with another start time: %v, alive %v, want it left alone", err, found[0].alive())
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_ = command.Wait() // it was killed: its exit status is expected
	}()
	if err := kill(t.Context(), found, time.Minute); err != nil || found[0].alive() {
		t.Errorf("killing it: %v, alive %v", err, found[0].alive())
	}
	<-waited
	if err := kill(t.Context(), found, 0); err != nil {
		t.Errorf("killing it again: %v, want success", err)
	}
	if _, ok := inspectProcess(os.Getpid()); !ok {
		t.Error("this process is not found")
	}
}

// findStarted finds a process that was just started. The kernel shows its arguments only some time
// after the exec that Start waits for, so the first attempts may find none.
func findStarted(t *testing.T, command *exec.Cmd) []process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var found []process
	err := waitUntil(ctx, func() (err error) {
		found, err = findProcesses(func(args []string) bool { return slices.Equal(args, command.Args) })
		if err == nil && (len(found) != 1 || found[0].pid != command.Process.Pid) {
			err = fmt.Errorf("found %v, want process %d", found, command.Process.Pid)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
