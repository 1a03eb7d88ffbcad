package compile

import (
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

// refusal is what is remembered of a module that is at fault.
type refusal struct {
	// Terms are what it was judged by; a refusal under other terms is void.
	Terms  string    `json:"terms"`
	Module string    `json:"module"`
	Reason Reason    `json:"reason"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// terms are what a module is judged by, in one word.
func terms(engine, revision string, l Limits) (string, error) {
	text, err := json.Marshal(struct {
		Engine, Revision string
		Limits           Limits
	}{engine, revision, l})
	return string(text), err
}

func (s *shelf) refusalPath(d Digest) string { return filepath.Join(s.dir, refusedDir, d.String()) }

// refused is the refusal of a module under these terms, nil if there is none.
// One that cannot be read is none: it costs one more child.
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

// refuse remembers a refusal, and forgets the oldest beyond so many.
func (s *shelf) refuse(r *Refused, terms string, most int) error {
	text, err := json.Marshal(refusal{Terms: terms, Module: r.Digest.String(), Reason: r.Reason, Text: r.Text, At: r.At})
	if err != nil {
		return err
	}
	path := s.refusalPath(r.Digest)
	if err := s.replaceFile(path, text); err != nil {
		return err
	}
	// Two that came within one tick of the file system's clock keep their order.
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

// forget forgets the refusal of a module, if there is one.
func (s *shelf) forget(digest Digest) error {
	path := s.refusalPath(digest)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return s.remove(path)
}
