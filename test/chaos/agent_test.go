package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script is an agent that is a shell script, which says "begun" once it is ready for a signal.
func script(t *testing.T, text string) *agent {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	a, err := startAgentProcess(log, "sh", "-c", text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.kill() })
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		said, err := os.ReadFile(log)
		if err == nil && strings.Contains(string(said), "begun") {
			return a
		}
		if time.Now().After(end) {
			t.Fatalf("it did not begin: %v", err)
		}
	}
}

func TestAnAgentsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		signal syscall.Signal
		// end and crash are in the errors; empty for none.
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
			a := script(t, test.script)
			var err error
			if test.signal == 0 {
				<-a.ended
			} else {
				err = a.end(test.signal)
			}
			says(t, err, test.end)
			says(t, a.crashed(), test.crash)
		})
	}
}

func TestAnAgentThatRunsHasNotCrashed(t *testing.T) {
	t.Parallel()
	says(t, script(t, "echo begun; sleep 60").crashed(), "")
}

func TestAnAgentThatIsNotThereDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := startAgentProcess(filepath.Join(t.TempDir(), "log"), "/no/such/agent")
	says(t, err, "start the agent")
}

// says checks an error by words in it; no words are no error.
func says(t *testing.T, err error, words string) {
	t.Helper()
	if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("error is %v, want %q", err, words)
	}
}
