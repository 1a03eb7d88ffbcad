package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// playVariable names a directory, and makes this test binary perform a step that never ends there.
const playVariable = "WARDLET_DEMO_PLAY"

// playIn performs that step. Its clean-up runs a program that sends itself the signals a terminal
// would send, waits until the file "go" exists, and then makes the file "cleaned".
func playIn(dir string) int {
	return perform(&performance{
		out: &screen{out: os.Stdout, wrong: os.Stdout},
		setUp: func() ([]step, error) {
			return []step{{"Waiting.", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}}, nil
		},
		cleanUp: func(ctx context.Context) error {
			if err := exec.CommandContext(ctx, "sh", "-c", "kill -INT $$; kill -HUP $$; kill -QUIT $$").Run(); err != nil {
				return fmt.Errorf("a program that cleans up: %w", err)
			}
			err := observe(ctx, "go", func(context.Context) error { _, err := os.Stat(filepath.Join(dir, "go")); return err })
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "cleaned"), nil, 0o600))
		},
		agentLog: func() []string { return nil },
		within:   time.Minute, shield: shield,
	})
}

func TestASignalCleansUpAndFurtherSignalsDoNotCutThatShort(t *testing.T) {
	t.Parallel()
	for _, first := range endings {
		t.Run(first.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			play := exec.CommandContext(t.Context(), os.Args[0])
			play.Env = append(os.Environ(), playVariable+"="+dir)
			out, err := play.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := play.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			expectLine(t, lines, "1. Waiting.")
			send(t, play, first)
			expectLine(t, lines, "demo: interrupted; cleaning up, which takes a few seconds")
			for _, again := range endings {
				send(t, play, again)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if lines.Scan() {
				t.Errorf("printed %q", lines.Text())
			}
			if err := play.Wait(); err == nil || play.ProcessState.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit status 1", play.ProcessState)
			}
			if _, err := os.Stat(filepath.Join(dir, "cleaned")); err != nil {
				t.Errorf("not cleaned up: %v", err)
			}
		})
	}
}

func TestAReaderThatGoesAwayCleansUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	play := exec.CommandContext(t.Context(), os.Args[0])
	play.Env = append(os.Environ(), playVariable+"="+dir)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	play.Stdout = writer
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := play.Run(); err == nil || play.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v, want exit status 1", play.ProcessState)
	}
	writer.Close()
	if _, err := os.Stat(filepath.Join(dir, "cleaned")); err != nil {
		t.Errorf("not cleaned up: %v", err)
	}
}

func expectLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("printed %q, want %q", lines.Text(), want)
	}
}

func send(t *testing.T, to *exec.Cmd, signal os.Signal) {
	t.Helper()
	if err := to.Process.Signal(signal.(syscall.Signal)); err != nil {
		t.Fatal(err)
	}
}
