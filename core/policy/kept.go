package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// keptSets is how many good sets of an owner are kept: the one in force, and
	// the one before it to go back to.
	keptSets = 2
	// keptRefusals is how many refused contents of an owner are remembered.
	keptRefusals = 16
	// newSuffix ends the name of a content that is not whole yet.
	newSuffix = ".new"
)

// Kept keeps what must be known of policy sets after a restart;
// state.PolicySets does.
type Kept interface {
	Load(tenant string) (state.PolicySet, error)
	// Store is durable when it returns nil.
	Store(p *state.PolicySet) error
	// Content is the directory for what was in an owner's sets.
	Content(tenant string) (string, error)
}

// kept is what is kept of one owner's sets. It belongs to the reloader. A disk
// that does not take it is no reason to do without the policies.
type kept struct {
	cfg    *Config
	tenant string
	record state.PolicySet
	// machine: the last good set could not be loaded because of the machine. It may be
	// next time.
	machine bool
}

// load reads what an earlier process kept.
func (k *kept) load() {
	if k.cfg.Kept == nil {
		return
	}
	record, err := k.cfg.Kept.Load(k.tenant)
	if err != nil {
		k.cfg.Logger.Error("what was kept of the policies cannot be read", "owner", k.owner(), "err", err)
	}
	k.record = record
	k.record.Tenant = k.tenant
}

// others reports whether the set in force last was another one than that of the digest.
func (k *kept) others(digest string) bool {
	return len(k.record.Good) > 0 && k.record.Good[0] != digest
}

func (k *kept) owner() string {
	if k.tenant == "" {
		return "operator"
	}
	return "tenant " + k.tenant
}

// refusal is why a content was refused before; nil if it was not.
func (k *kept) refusal(content string) error {
	i := slices.IndexFunc(k.record.Refused, func(r state.RefusedSet) bool { return r.Content == content })
	if i < 0 {
		return nil
	}
	return errors.New(k.record.Refused[i].Reason)
}

// refuse remembers that a content is not to be tried again.
func (k *kept) refuse(content string, reason error, now time.Time) {
	k.forget(content)
	k.record.Refused = slices.Insert(k.record.Refused, 0, state.RefusedSet{Content: content, Reason: reason.Error(), At: now})
	k.record.Refused = k.record.Refused[:min(len(k.record.Refused), keptRefusals)]
	k.store()
}

// retry forgets all refusals, and reports whether there were any.
func (k *kept) retry() bool {
	if len(k.record.Refused) == 0 {
		return false
	}
	k.record.Refused = nil
	k.store()
	return true
}

func (k *kept) forget(content string) {
	k.record.Refused = slices.DeleteFunc(k.record.Refused, func(r state.RefusedSet) bool { return r.Content == content })
}

// good remembers that a set comes into force, with its content. What was kept
// of older ones goes.
func (k *kept) good(s *loadedSet, r *bundle.Bundle) {
	if k.cfg.Kept == nil {
		return
	}
	digest := s.set.Digest
	k.forget(s.content)
	k.record.Trial = s.trialOf()
	k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == digest })
	k.record.Good = slices.Insert(k.record.Good, 0, digest)
	k.record.Good = k.record.Good[:min(len(k.record.Good), keptSets)]
	k.record.Generation++
	k.record.Revision = max(k.record.Revision, r.Signature.Revision)
	dir, err := k.cfg.Kept.Content(k.tenant)
	if err == nil {
		err = k.keep(filepath.Join(dir, digest), r)
	}
	if err != nil {
		k.cfg.Logger.Error("the content of the policies is not kept; should their directory break, they are lost at the next start",
			"owner", k.owner(), "err", err)
		k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == digest })
	}
	k.store()
	k.tidy(dir)
}

// back remembers that a set gave way to an earlier one, and that a content is
// not to be tried again: in one write, or a restart would bring the wrong one
// back.
func (k *kept) back(content string, reason error, from, to string, now time.Time) {
	k.record.Trial = state.PolicyTrial{}
	k.record.Good = slices.DeleteFunc(k.record.Good, func(d string) bool { return d == from || d == to })
	k.record.Good = slices.Insert(k.record.Good, 0, to)
	k.record.Generation++
	k.refuse(content, reason, now)
}

// tidy removes contents that are not those of good sets.
func (k *kept) tidy(dir string) {
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

// last loads the newest good set that is kept, leaving out those that skip names.
// It gives nil where there is none that can be loaded, and why; machine then says
// whether that is why for any of them.
func (k *kept) last(ctx context.Context, l *loader, running *loadedSet, skip ...string) (*loadedSet, error) {
	k.machine = false
	if k.cfg.Kept == nil || len(k.record.Good) == 0 {
		return nil, nil
	}
	dir, err := k.cfg.Kept.Content(k.tenant)
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

// read reads a kept content.
func (k *kept) read(dir string) *bundle.Bundle {
	o := k.cfg.read()
	o.Dir = dir
	got := bundle.Read(o)
	k.cfg.loads.pay(got.Took())
	return got
}

// again loads a kept content, without waiting for a budget.
func (k *kept) again(ctx context.Context, l *loader, running *loadedSet, dir, digest string) (*loadedSet, error) {
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
