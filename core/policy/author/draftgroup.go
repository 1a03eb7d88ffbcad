package author

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// Group reports whether the draft is a group, which has no plugin of its own: its members
// are asked.
func (d *Draft) Group() bool { return d.policy != nil && d.policy.IsGroup() }

// join links a group to its members, which are among the drafts of the directory or are
// loaded for the group.
func (d *Draft) join(ctx context.Context, dir *bundle.Directory, drafts []*Draft) {
	group := d.policy
	names := group.Group.Names()
	alone := len(drafts) == 1
	if alone { // only the group's document was named
		drafts = d.others(ctx, dir, names)
		defer func() {
			for _, other := range drafts {
				other.Close()
			}
		}()
	}
	found, documents := map[string]*Draft{}, map[string]*spec.Document{}
	for _, other := range drafts {
		if other.policy != nil && other.policy.Mode != spec.ModeShadow {
			found[other.Name], documents[other.Name] = other, other.policy.Document
		}
	}
	group.CheckMembers(documents)
	if d.Err = group.Err(); d.Err != nil {
		for i := range d.reading.Refused {
			if alone { // otherwise each refused document is a draft
				d.Err = errors.Join(d.Err, d.reading.Refused[i].Err)
			}
		}
		return
	}
	made := sha256.New()
	for _, name := range names {
		m := found[name]
		if m.Err != nil {
			d.Err = errors.Join(d.Err, fmt.Errorf("%s: member %q cannot be asked: %w", d.Document, name, m.Err))
			continue
		}
		m.policy.Plugin.Acquire()
		group.Members = append(group.Members, m.policy)
		fmt.Fprintln(made, name, m.Module)
		d.Size, d.LoadFuel, d.Took = d.Size+m.Size, d.LoadFuel+m.LoadFuel, d.Took+m.Took
	}
	d.Module = hex.EncodeToString(made.Sum(nil))
	d.Pinned = d.Module
}

// others loads the policies of the directory that have one of the names.
func (d *Draft) others(ctx context.Context, dir *bundle.Directory, names []string) (all []*Draft) {
	paths, err := dir.Documents()
	if err != nil {
		d.policy.Complain("expression", "%v", err)
	}
	for _, path := range paths {
		r := d.reading
		known := len(r.Documents)
		if path == d.policy.Path {
			continue
		}
		if r.ReadDocument(dir, path); len(r.Documents) == known || !slices.Contains(names, r.Documents[known].Name) {
			continue
		}
		other := &Draft{Document: filepath.Join(d.Dir(), path), reading: r, loader: d.loader}
		other.load(ctx, dir, r.Documents[known])
		all = append(all, other)
	}
	return all
}

// readsNode reports whether the policy, or one of its members, may see facts about the
// node.
func (d *Draft) readsNode() bool { return d.any((*eval.Policy).ReadsNode) }

// readsReferences reports whether the policy, or one of its members, may see what pods
// name.
func (d *Draft) readsReferences() bool { return d.any((*eval.Policy).ReadsReferences) }

func (d *Draft) any(is func(*eval.Policy) bool) bool {
	return is(d.policy) || slices.ContainsFunc(d.policy.Members, is)
}
