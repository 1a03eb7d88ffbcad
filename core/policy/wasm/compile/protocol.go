package compile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// maxModule is the largest module that a child accepts, in bytes. It is several
// times the limit of the verifier.
const maxModule = 32 << 20

// maxLine is the longest line from or to a child, in bytes.
const maxLine = 64 << 10

// task is the first line that a child reads. The module follows it.
type task struct {
	// Dir is an empty directory for the child's files.
	Dir      string   `json:"dir"`
	Length   int      `json:"length"`
	Digest   string   `json:"digest"`
	Limits   Limits   `json:"limits"`
	Priority Priority `json:"priority"`
	// Interpreted: the module is to be prepared for wazero's interpreter.
	Interpreted bool `json:"interpreted,omitempty"`
}

// encode returns the line, with a newline at its end.
func (t *task) encode() ([]byte, error) {
	line, err := json.Marshal(t)
	return append(line, '\n'), err
}

// readTask reads the line of a task.
func readTask(r *bufio.Reader) (*task, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("the task has no end within %d bytes: %w", r.Size(), err)
	}
	var t task
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, fmt.Errorf("the task is not JSON: %w", err)
	}
	switch {
	case !filepath.IsAbs(t.Dir):
		return nil, fmt.Errorf("the directory %q is not an absolute path", t.Dir)
	case t.Length < 0 || t.Length > maxModule:
		return nil, fmt.Errorf("a module of %d bytes: at most %d are compiled", t.Length, maxModule)
	case t.Priority != Lowest && t.Priority != Normal:
		return nil, fmt.Errorf("no priority %d", t.Priority)
	}
	return &t, t.Limits.check()
}

// readModule reads the module of a task, and checks its length and digest.
func (t *task) readModule(r io.Reader) ([]byte, error) {
	module := make([]byte, t.Length)
	if _, err := io.ReadFull(r, module); err != nil {
		return nil, fmt.Errorf("the module is not whole: %w", err)
	}
	if digest := Digest(sha256.Sum256(module)); digest.String() != t.Digest {
		return nil, errors.New("the module does not match its digest")
	}
	return module, nil
}

// report is the one line that a child writes.
type report struct {
	// Refused is why the module is refused, empty if it is not.
	Refused Reason `json:"refused,omitempty"`
	// Failed reports that the machine is at fault, not the module.
	Failed bool `json:"failed,omitempty"`
	// Disk is set where writing the code failed.
	Disk bool `json:"disk,omitempty"`
	// Text describes the refusal or the failure.
	Text string `json:"text,omitempty"`
	codeFiles
	Cost Cost `json:"cost"`
}

// Cost is the cost of a compilation.
type Cost struct {
	// CPU is the child's processor time to compile. LoadCPU is that to load the
	// code.
	CPU     time.Duration `json:"cpu"`
	LoadCPU time.Duration `json:"loadCPU"`
	// Peak is the largest resident memory of the child. Mapped is how much its
	// address space grew. LoadMemory is what Go allocated to load the code. All are
	// in bytes.
	Peak       int64 `json:"peak"`
	Mapped     int64 `json:"mapped"`
	LoadMemory int64 `json:"loadMemory"`
}

// parseReport reads the output of a child.
func parseReport(output []byte) (*report, error) {
	line, rest, whole := bytes.Cut(output, []byte("\n"))
	if !whole || len(rest) > 0 {
		return nil, fmt.Errorf("it wrote %d bytes that are no report", len(output))
	}
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("its report is not JSON: %w", err)
	}
	if r.Refused != "" && !r.Refused.known() {
		return nil, fmt.Errorf("its report has an unknown reason %q", r.Refused)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("its report: %w", err)
	}
	return &r, nil
}
