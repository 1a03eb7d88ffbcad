//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/test/harness"
)

// typed is a block of commands from a document, with lines that they print.
type typed struct{ commands, prints string }

var (
	typedBlock = regexp.MustCompile("(?s)```sh\n(.*?)```(?:\n```text\n(.*?)```)?")
	// looks matches commands that may be repeated until they print what they should.
	looks = regexp.MustCompile(`^wardlet -c agent\.toml (get|explain|policy promote) `)
	runs  = regexp.MustCompile(`^wardlet -c agent\.toml run\n$`)
)

// typedIn returns the blocks of a section, in its order.
func typedIn(t *testing.T, document, section string) (blocks []typed) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, text2, found := strings.Cut(string(text), "\n## "+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, section)
	}
	text2, _, _ = strings.Cut(text2, "\n## ")
	for _, m := range typedBlock.FindAllStringSubmatch(text2, -1) {
		blocks = append(blocks, typed{m[1], m[2]})
	}
	return blocks
}

// repeats reports whether all commands of the block only read, and so may be repeated.
func (b *typed) repeats() bool {
	for line := range strings.Lines(b.commands) {
		if !looks.MatchString(line) {
			return false
		}
	}
	return true
}

// missing returns the first expected line that was not printed. "…" matches anything,
// and the amount of space between words does not matter.
func (b *typed) missing(printed string) error {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	printed = flat(printed)
	for line := range strings.Lines(b.prints) {
		parts := strings.Split(flat(line), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		if !regexp.MustCompile(strings.Join(parts, ".*")).MatchString(printed) {
			return fmt.Errorf("%q is not printed by\n%sbut\n%s", strings.TrimSpace(line), b.commands, printed)
		}
	}
	return nil
}

// TestDocs_whatIsTypedWorks runs the commands that documents tell the reader to type, and
// checks that they print what the documents say.
func TestDocs_whatIsTypedWorks(t *testing.T) {
	t.Parallel()
	if _, err := plainBinary(); err != nil {
		t.Fatal(err)
	}
	docs := filepath.Join("..", "..", "docs")
	for _, test := range []struct {
		name, document, section string
		blocks                  int // the least number of blocks in the section
	}{
		{"quick start", filepath.Join(docs, "quickstart.md"), "A pod and a policy", 8},
		{"tutorial", filepath.Join(docs, "policies", "tutorial.md"), "In ten minutes", 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			blocks := typedIn(t, test.document, test.section)
			if len(blocks) < test.blocks {
				t.Fatalf("the section has %d blocks of commands", len(blocks))
			}
			typeAll(t, blocks)
		})
	}
}

// typeAll runs the commands of all blocks in a new directory, with the agent in a second
// terminal, and stops the agent with ctrl-C.
func typeAll(t *testing.T, blocks []typed) {
	t.Helper()
	n := startNode(t)
	dir, err := os.MkdirTemp("", "wardlet-typed-") //nolint:usetesting // the test's name would make the socket's path too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	shell := func(ctx context.Context, commands string) *exec.Cmd {
		c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
		c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true} // as Command sets it
		c.Env = append(os.Environ(), "PATH="+buildDir+":"+os.Getenv("PATH"), "WARDLET_SOURCE="+repository,
			"CONTAINER_RUNTIME_ENDPOINT="+n.Endpoint(), harness.QuickEnd)
		return c
	}
	var agent *exec.Cmd
	for _, b := range blocks {
		if runs.MatchString(b.commands) {
			agent = runInSecondTerminal(t, shell(context.Background(), "exec "+b.commands))
			continue
		}
		once := func(ctx context.Context) error {
			printed, err := shell(ctx, b.commands).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w:\n%s%s", err, b.commands, printed)
			}
			return errors.Join(err, b.missing(string(printed)))
		}
		if b.repeats() {
			eventually(t, strings.TrimSpace(b.commands), once)
		} else if err := once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if agent == nil {
		t.Fatal("nothing runs the agent")
	}
	if err := errors.Join(agent.Process.Signal(syscall.SIGINT), agent.Wait()); err != nil {
		t.Errorf("ctrl-C: %v", err)
	}
}

// runInSecondTerminal starts the agent and waits until it answers. If the test
// fails, the agent's log is shown.
func runInSecondTerminal(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	var log strings.Builder
	c.Stdout, c.Stderr = io.Discard, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		if t.Failed() {
			t.Logf("log of the agent:\n%s", log.String())
		}
	})
	socket := filepath.Join(c.Dir, "wardlet.sock")
	eventually(t, "the agent listens", func(context.Context) error {
		_, err := os.Stat(socket)
		return err
	})
	return c
}
