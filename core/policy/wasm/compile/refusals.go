package compile

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// refusal is the stored record of a module that is at fault.
type refusal struct {
	// Terms are the terms under which the module was refused. Under other terms the
	// refusal is void.
	Terms  string    `json:"terms"`
	Module string    `json:"module"`
	Reason Reason    `json:"reason"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// terms returns a text that identifies what the judgement on a module depends on.
func terms(engine, revision string, l Limits) (string, error) {
	text, err := json.Marshal(struct {
		Engine, Revision string
		Limits           Limits
	}{engine, revision, l})
	return string(text), err
}

func (s *shelf) refusalPath(d Digest) string { return filepath.Join(s.dir, refusedDir, d.String()) }

// refused returns the refusal of a module under these terms, nil if there is none.
// A refusal that cannot be read is ignored; the module is then compiled once more.
func (s *shelf) refused(digest Digest, terms string) *Refused {
	f, err := openRegular(s.refusalPath(digest))
	if err != nil {
		return nil
	}
	defer f.Close()
	r, err := readRefusal(f)
	if err != nil || r.Module != digest.String() || r.Terms != terms {
		return nil
	}
	return &Refused{Digest: digest, Reason: r.Reason, Text: oneLine(r.Text), At: r.At}
}

func readRefusal(from io.Reader) (r refusal, err error) {
	if err := readLine(from, &r); err != nil {
		return r, fmt.Errorf("a refusal %w", err)
	}
	if !r.Reason.known() {
		return r, fmt.Errorf("unknown reason %q", r.Reason)
	}
	return r, nil
}

// refuse stores a refusal, and removes the oldest if there are more than most.
func (s *shelf) refuse(r *Refused, terms string, most int) error {
	text, err := json.Marshal(refusal{Terms: terms, Module: r.Digest.String(), Reason: r.Reason, Text: r.Text, At: r.At})
	if err != nil {
		return err
	}
	path := s.refusalPath(r.Digest)
	if err := s.replaceFile(path, text); err != nil {
		return err
	}
	// The time is set so that refusals within one tick of the file system's clock
	// keep their order.
	if err := os.Chtimes(path, r.At, r.At); err != nil {
		return wrapDisk(err)
	}
	return wrapDisk(s.forgetOldest(most))
}

func (s *shelf) forgetOldest(most int) error {
	type known struct {
		path string
		at   time.Time
	}
	var all []known
	err := digestsIn(filepath.Join(s.dir, refusedDir), func(path string) { all = append(all, known{path: path}) })
	if err != nil || len(all) <= most {
		return err
	}
	for i := range all {
		if info, err := os.Lstat(all[i].path); err == nil {
			all[i].at = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b known) int { return a.at.Compare(b.at) })
	for _, k := range all[:len(all)-most] {
		err = errors.Join(err, s.remove(k.path))
	}
	return err
}

// forget removes the refusal of a module, if there is one.
func (s *shelf) forget(digest Digest) error {
	path := s.refusalPath(digest)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return s.remove(path)
}

// Digest is the SHA-256 of a module, as it is compiled.
type Digest [32]byte

// String returns the digest as 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the text of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a text that String returned.
func (d *Digest) UnmarshalText(text []byte) error {
	if !isDigest(string(text)) {
		return fmt.Errorf("%q is no digest: it has 64 hexadecimal digits", text)
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Reason is the kind of a Refused.
type Reason string

// The reasons.
const (
	// CPU: compiling or loading needs more processor time than the limit.
	CPU Reason = "cpu"
	// Memory: compiling or loading needs more memory than the limit, or the code is
	// too large.
	Memory Reason = "memory"
	// Crash: the child that compiled the module died.
	Crash Reason = "crash"
	// Invalid: the module is not valid.
	Invalid Reason = "invalid"
)

// Refused is the error for a module that is itself at fault. The refusal is stored:
// the module is not tried again until Forget, an upgrade, or other limits.
type Refused struct {
	Digest Digest
	Reason Reason
	// Text is a description in one line.
	Text string
	// At is when the module was tried.
	At time.Time
}

func (r *Refused) Error() string {
	return fmt.Sprintf("the module is refused (%s, tried at %s): %s", r.Reason, r.At.UTC().Format(time.RFC3339), r.Text)
}

func (r Reason) known() bool {
	switch r {
	case CPU, Memory, Crash, Invalid:
		return true
	}
	return false
}
