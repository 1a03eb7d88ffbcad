package workers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// theirSources is the package of the program. shared are the files of this package that the program
// also has.
const theirSources = "testdata/theirs"

var shared = []string{"script.go", "world.go"}

// build builds in dir the program that has a kubelet's workers, and returns its path.
func build(dir string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, name := range shared {
		replace[filepath.Join(here, theirSources, name)] = filepath.Join(here, name)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "podworkers")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	// The flags are those of make and tools/setup.sh, so that the build cache can be shared.
	command := exec.Command("go", "test", "-c", "-buildvcs=false", "-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w",
		"-overlay", overlay, "-o", program, "./"+theirSources)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building a kubelet's workers: %w\n%s", err, out)
	}
	return program, nil
}

// theirs is a running program with a kubelet's workers.
type theirs struct {
	mu      sync.Mutex
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startTheirs(program string) (*theirs, error) {
	t := &theirs{command: exec.Command(program, "-test.run=^TestServe$", "-test.timeout=0")}
	t.command.Stderr = os.Stderr
	var err error
	if t.in, err = t.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewReader(out)
	return t, t.command.Start()
}

// stop stops the program.
func (t *theirs) stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.in.Close(); err != nil {
		return err
	}
	rest, err := io.ReadAll(t.out)
	if ended := t.command.Wait(); ended != nil {
		return fmt.Errorf("a kubelet's workers: %w\n%s", ended, rest)
	}
	return err
}

// play returns the state of a kubelet's workers after each step.
func (t *theirs) play(steps []Step) ([]Look, error) {
	text, err := json.Marshal(steps)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.in.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	var other []byte
	for {
		line, err := t.out.ReadBytes('\n')
		if err != nil {
			return nil, errors.Join(fmt.Errorf("a kubelet's workers said\n%s%s", other, line), err)
		}
		answer, found := bytes.CutPrefix(line, []byte("looks "))
		if !found {
			other = append(other, line...)
			continue
		}
		var looks []Look
		err = json.Unmarshal(answer, &looks)
		return looks, err
	}
}
