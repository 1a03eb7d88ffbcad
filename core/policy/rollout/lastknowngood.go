package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/durable"
)

const (
	// keptSets is how many good sets of an owner are kept: the set in force, and the
	// previous one for a rollback.
	keptSets = 2
	// keptRefusals is how many refused contents of an owner are kept.
	keptRefusals = 16
	// newSuffix ends the name of a content that is being written.
	newSuffix = ".new"
)

// Kept stores what must be known about policy sets after a restart; see state.PolicySets.
type Kept interface {
	Load(tenant string) (state.PolicySet, error)
	// Store is durable when it returns nil.
	Store(p *state.PolicySet) error
	// Content returns the directory for the files of an owner's sets.
	Content(tenant string) (string, error)
}

// lastKnownGood stores an owner's good sets and refused contents. It belongs to the
// reloader. If the disk fails, the policies are in force nevertheless.
type lastKnownGood struct {
	cfg    *Options
	record state.PolicySet
	// machine reports that the last good set could not be loaded because of the machine,
	// so that the next attempt may succeed.
	machine bool
}

// load reads what an earlier process stored.
func (k *lastKnownGood) load() {
	if k.cfg.Kept == nil {
		return
	}
	record, err := k.cfg.Kept.Load(k.cfg.Tenant)
	if err != nil {
		k.cfg.Logger.Error("the saved state of policies cannot be read", "owner", k.owner(), "err", err)
	}
	k.record = record
	k.record.Tenant = k.cfg.Tenant
}

// others reports whether the set that was last in force has another digest.
func (k *lastKnownGood) others(digest string) bool {
	return len(k.record.Good) > 0 && k.record.Good[0] != digest
}

func (k *lastKnownGood) owner() string {
	if k.cfg.Tenant == "" {
		return "operator"
	}
	return "tenant " + k.cfg.Tenant
}

// refusal returns why a content was refused before, nil if it was not.
func (k *lastKnownGood) refusal(content string) error {
	i := slices.IndexFunc(k.record.Refused, func(r state.RefusedSet) bool { return r.Content == content })
	if i < 0 {
		return nil
	}
	return errors.New(k.record.Refused[i].Reason)
}

// refuse stores that a content is not to be tried again.
func (k *lastKnownGood) refuse(content string, reason error, now time.Time) {
	k.forget(content)
	k.record.Refused = slices.Insert(k.record.Refused, 0, state.RefusedSet{Content: content, Reason: reason.Error(), At: now})
	k.record.Refused = k.record.Refused[:min(len(k.record.Refused), keptRefusals)]
	k.store()
}

// retry removes all refusals, and reports whether there were any.
func (k *lastKnownGood) retry() bool {
	if len(k.record.Refused) == 0 {
		return false
	}
	k.record.Refused = nil
	k.store()
	return true
}

func (k *lastKnownGood) forget(content string) {
	k.record.Refused = slices.DeleteFunc(k.record.Refused, func(r state.RefusedSet) bool { return r.Content == content })
}

// good stores a set that comes into force, with its files, and removes older ones.
func (k *lastKnownGood) good(s *Set, r *bundle.Bundle) {
	if k.cfg.Kept == nil {
		return
	}
	digest := s.Eval.Digest
	k.forget(s.content)
	k.record.Trial = s.trialOf()
	k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == digest })
	k.record.Good = slices.Insert(k.record.Good, 0, digest)
	k.record.Good = k.record.Good[:min(len(k.record.Good), keptSets)]
	k.record.Generation++
	k.record.Revision = max(k.record.Revision, r.Signature.Revision)
	dir, err := k.cfg.Kept.Content(k.cfg.Tenant)
	if err == nil {
		err = k.keep(filepath.Join(dir, digest), r)
	}
	if err != nil {
		k.cfg.Logger.Error("the content of the policies is not saved; if their directory breaks, they are lost at the next start",
			"owner", k.owner(), "err", err)
		k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == digest })
	}
	k.store()
	k.tidy(dir)
}

// back stores a rollback: the earlier set is in force and the content is not to be tried
// again. One write does both, or a restart would activate the wrong set.
func (k *lastKnownGood) back(content string, reason error, from, to string, now time.Time) {
	k.record.Trial = state.PolicyTrial{}
	k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == from || d == to })
	k.record.Good = slices.Insert(k.record.Good, 0, to)
	k.record.Generation++
	k.refuse(content, reason, now)
}

// tidy removes all files except those of good sets.
func (k *lastKnownGood) tidy(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !slices.Contains(k.record.Good, e.Name()) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // the next good set tries again
		}
	}
}

// last loads the newest good set that is not in skip. If none can be loaded, it returns nil
// and the reason, and k.machine reports whether the machine is a reason.
func (k *lastKnownGood) last(ctx context.Context, l *Loader, running *Set, skip ...string) (*Set, error) {
	k.machine = false
	if k.cfg.Kept == nil || len(k.record.Good) == 0 {
		return nil, nil
	}
	dir, err := k.cfg.Kept.Content(k.cfg.Tenant)
	if err != nil {
		k.machine = true
		return nil, err
	}
	var errs []error
	machine := false
	for _, digest := range k.record.Good {
		if slices.Contains(skip, digest) {
			continue
		}
		s, err := k.again(ctx, l, running, filepath.Join(dir, digest), digest)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
		machine = machine || l.again
	}
	k.machine = machine
	return nil, errors.Join(errs...)
}

// read reads the files of a good set.
func (k *lastKnownGood) read(dir string) *bundle.Bundle {
	o := k.cfg.Options
	o.Dir = dir
	got := bundle.Read(o)
	k.cfg.loads.pay(got.Took())
	return got
}

// again loads a good set, without waiting for a budget.
func (k *lastKnownGood) again(ctx context.Context, l *Loader, running *Set, dir, digest string) (*Set, error) {
	got := k.read(dir)
	if l.again = false; got.Digest() != digest {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		l.again = !got.Whole
		return nil, errors.New(dir + " does not hold what its name says")
	}
	l.free = true
	defer func() { l.free = false }()
	s, err := l.load(ctx, got, running)
	if err != nil {
		return nil, err
	}
	s.content, s.revision, s.key = got.Content(k.cfg.Version), got.Signature.Revision, got.Signature.Key
	return s, nil
}

// keep writes the files of a bundle to a directory, which exists as a whole or not at all.
// A damaged directory is replaced. A file that another good set also has is linked.
func (k *lastKnownGood) keep(dir string, r *bundle.Bundle) error {
	if _, err := os.Stat(dir); err == nil && k.read(dir).Digest() == r.Digest() {
		return nil
	}
	part := dir + newSuffix
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	written := 0
	defer func() { k.pay(written) }()
	linked := map[string]bool{}
	for path, f := range r.Files {
		below := filepath.Join(part, filepath.Dir(path))
		if err := os.MkdirAll(below, 0o700); err != nil {
			return err
		}
		if k.link(filepath.Dir(dir), path, part, f.Data) {
			linked[below] = true
			continue
		}
		written += len(f.Data)
		if err := durable.WriteFile(below, filepath.Base(path), f.Data); err != nil {
			return err
		}
	}
	for below := range linked {
		if err := syncDir(below); err != nil {
			return err
		}
	}
	crashpoint.Reached("set content written")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Rename(part, dir); err != nil {
		return err
	}
	crashpoint.Reached("set content kept")
	return syncDir(filepath.Dir(dir))
}

// link links the file at a path to the file of a good set below all, and reports whether it
// did. It compares the contents, because the file may be damaged.
func (k *lastKnownGood) link(all, path, part string, data []byte) bool {
	for _, digest := range k.record.Good {
		from := filepath.Join(all, digest, path)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
			continue
		}
		k.cfg.loads.pay(info.Size() * bundle.ReadByteFuel)
		if has, err := os.ReadFile(from); err == nil && bytes.Equal(has, data) && os.Link(from, filepath.Join(part, path)) == nil {
			return true
		}
	}
	return false
}

// pay charges the owner for bytes written to the disk. This also pays for the copy of the
// set that is kept for records, which is compressed.
func (k *lastKnownGood) pay(bytes int) { k.cfg.loads.pay(int64(bytes) * sched.RecordByteFuel) }

// store writes the record to the disk.
func (k *lastKnownGood) store() {
	if k.cfg.Kept == nil {
		return
	}
	if text, err := json.Marshal(&k.record); err == nil {
		k.pay(len(text))
	}
	if err := k.cfg.Kept.Store(&k.record); err != nil {
		k.cfg.Logger.Error("the state of policies is not saved; a restart loses it", "owner", k.owner(), "err", err)
	}
}

// syncDir makes the entries of a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
