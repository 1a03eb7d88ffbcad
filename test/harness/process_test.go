package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// run starts a shell script as the agent's process.
func run(t *testing.T, script string) (p *Process, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "agent.log")
	p, err := StartProcess(log, exec.Command("/bin/sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// If the test succeeds, the process has already exited.
		_ = p.command.Process.Kill()
		<-p.Ended()
	})
	return p, log
}

// said waits until the log contains a text.
func said(t *testing.T, log, text string) {
	t.Helper()
	for {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), text) {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it did not say", text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestAProcessThatIsToldToEnds(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p, _ := run(t, "exec sleep 1000")
		if err := p.Gone(); err != nil {
			t.Errorf("before %s: %v", signal, err)
		}
		if err := p.End(signal, time.Minute); err != nil {
			t.Errorf("%s: %v", signal, err)
		}
		if err := p.End(signal, time.Minute); err != nil {
			t.Errorf("%s again: %v", signal, err)
		}
	}
}

func TestAProcessThatDoesNotEndIsKilledAndThatIsAnError(t *testing.T) {
	t.Parallel()
	p, log := run(t, "trap '' TERM; echo deaf; while :; do sleep 0.1; done")
	said(t, log, "deaf")
	err := p.End(syscall.SIGTERM, 20*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("error is %v", err)
	}
	if p.Gone() == nil {
		t.Error("it still runs")
	}
}

func TestAProcessThatEndsByItselfSaysHow(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"exit 3": "exit status 3", "exit 0": "exit status 0", "kill -9 $$": "signal: killed"} {
		p, _ := run(t, script)
		<-p.Ended()
		if err := p.Gone(); !errors.Is(err, ErrEnded) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

func TestAProcessIsInASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	p, _ := run(t, "exec sleep 1000")
	group, err := syscall.Getpgid(p.PID())
	if err != nil || group != p.PID() {
		t.Errorf("its process group is %d, %v; want its own, %d", group, err, p.PID())
	}
}

// fakeNode returns a node whose wardlet command and whose agent are shell scripts.
func fakeNode(t *testing.T, command, agent string) *Node {
	t.Helper()
	n := &Node{Agent: &Agent{Dir: t.TempDir()}}
	n.Program = n.Path("wardlet")
	// A child forked by another test while the file is open for writing would
	// keep it so until its own exec, and executing it would be ETXTBSY.
	syscall.ForkLock.RLock()
	err := os.WriteFile(n.Program, []byte("#!/bin/sh\n"+command+"\n"), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	n.Process, _ = run(t, agent)
	return n
}

func TestWardletAsksTheAgentOfTheNode(t *testing.T) {
	t.Parallel()
	n := fakeNode(t, `echo "$@"; echo aside >&2`, "exec sleep 1000")
	got, err := n.Wardlet(t.Context(), "get", "pods")
	if want := "get pods --config " + n.Dir + "/agent.toml\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestACommandThatFailsTellsWhatItSaid(t *testing.T) {
	t.Parallel()
	n := fakeNode(t, "echo 'wardlet: no agent answers' >&2; exit 1", "exec sleep 1000")
	_, err := n.Wardlet(t.Context(), "get", "pods")
	if want := "wardlet get pods: exit status 1: wardlet: no agent answers"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestAnAgentThatEndedIsNotAsked(t *testing.T) {
	t.Parallel()
	n := fakeNode(t, "echo '{}'", "exit 1")
	<-n.Process.Ended()
	if _, err := n.Wardlet(context.Background(), "get", "pods"); !errors.Is(err, ErrEnded) {
		t.Errorf("the command: %v", err)
	}
	for name, err := range map[string]error{"stop": n.Stop(), "kill": n.Kill()} {
		if !errors.Is(err, ErrEnded) {
			t.Errorf("%s: %v, want %v", name, err, ErrEnded)
		}
	}
}

func TestAnAgentRunsOnce(t *testing.T) {
	t.Parallel()
	n := fakeNode(t, "exec sleep 1000", "exec sleep 1000")
	if err := n.Start(); err == nil {
		t.Error("it was started twice")
	}
	if err := n.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	if got := strings.Join(tail("a\nb\nc\n", 2), " "); got != "b c" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(tail("a\n", 2), " "); got != "a" {
		t.Errorf("got %s", got)
	}
}

func TestAnAgentsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		signal syscall.Signal
		// end and crash are words in the errors of Clean and Crashed; empty for no error.
		end, crash string
	}{
		"killed":                           {"echo begun; sleep 60", syscall.SIGKILL, "", ""},
		"ended cleanly":                    {"trap 'exit 0' TERM; echo begun; while :; do sleep 0.01; done", syscall.SIGTERM, "", ""},
		"ended with an error":              {"trap 'exit 3' TERM; echo begun; while :; do sleep 0.01; done", syscall.SIGTERM, "ended after SIGTERM with: exit status 3", ""},
		"ended by itself":                  {"echo begun; exit 4", 0, "", "ended by itself"},
		"ended by itself, with no failure": {"echo begun; exit 0", 0, "", "ended by itself"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, log := run(t, test.script)
			said(t, log, "begun")
			if test.signal == 0 {
				<-p.Ended()
			} else if err := p.End(test.signal, time.Minute); err != nil {
				t.Error(err)
			}
			says(t, p.Clean(), test.end)
			says(t, p.Crashed(), test.crash)
		})
	}
}

// TestClean_ofOneThatDoesNotListenYet: the signal kills the process, which has done nothing yet.
func TestClean_ofOneThatDoesNotListenYet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		begun time.Duration
		want  string
	}{{0, ""}, {2 * listenTime, "ended after SIGTERM with: signal: terminated"}} {
		p, log := run(t, "echo begun; exec sleep 60")
		said(t, log, "begun")
		p.begun = p.begun.Add(-test.begun)
		if err := p.End(syscall.SIGTERM, time.Minute); err != nil {
			t.Error(err)
		}
		says(t, p.Clean(), test.want)
	}
}

func TestStop_wantsACleanEndOfAProcessThatRuns(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"trap 'exit 0' TERM; echo begun; while :; do sleep 0.01; done": "",
		"trap 'exit 3' TERM; echo begun; while :; do sleep 0.01; done": "ended after SIGTERM with: exit status 3",
	} {
		p, log := run(t, script)
		said(t, log, "begun")
		says(t, p.Stop(time.Minute), want)
	}
	p, _ := run(t, "exit 0")
	<-p.Ended()
	says(t, p.Stop(time.Minute), "ended by itself")
}

func TestAnAgentThatRunsHasNotCrashed(t *testing.T) {
	t.Parallel()
	p, log := run(t, "echo begun; sleep 60")
	said(t, log, "begun")
	says(t, p.Crashed(), "")
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	says(t, p.Crashed(), "signal: killed") // a signal that Signal did not send has killed it
}

func TestAnAgentThatIsNotThereDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := StartProcess(filepath.Join(t.TempDir(), "log"), exec.Command("/no/such/agent"))
	says(t, err, "start the agent")
}

func TestAwait(t *testing.T) {
	t.Parallel()
	p, _ := run(t, "exec sleep 1000")
	asked := 0
	third := func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	if err := p.Await(t.Context(), time.Millisecond, third); err != nil || asked != 3 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	never := func(context.Context) error { return errors.New("not yet") }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.Await(ctx, time.Millisecond, never); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("in vain: %v", err)
	}
	ended, _ := run(t, "exit 3")
	if err := ended.Await(t.Context(), time.Minute, never); !errors.Is(err, ErrEnded) {
		t.Errorf("of one that ended: %v", err)
	}
}

// says checks that an error contains words; without words there must be no error.
func says(t *testing.T, err error, words string) {
	t.Helper()
	if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want %q", err, words)
	}
}
