package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/wardlet/wardlet/core/policy/signed"
	"github.com/wardlet/wardlet/core/strict"
)

// Trust says whose signature a set must have.
type Trust struct {
	// Keys are those whose signatures count. Nothing in a directory of policies can
	// add to them.
	Keys []signed.PublicKey
	// Required refuses sets without a signature.
	Required bool
}

// signature is what is known of the manifest of a set; the zero value is that
// of a set without one.
type signature struct {
	manifest *signed.Manifest
	// revision is 0 and key empty where no trusted key has signed it.
	revision uint64
	key      string
}

// readSignature reads the manifest of the set, if there is one, and verifies
// its signature where keys are trusted.
func (r *reading) readSignature(d *directory, trust Trust) {
	whole := filepath.Join(r.dir, signed.ManifestName)
	f, err := r.fetch(d, signed.ManifestName, strict.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		if trust.Required {
			r.refuseSignature(fmt.Errorf("%s: missing, and agent.toml requires a signature; sign the set with wardlet policy sign", whole))
		}
		return
	}
	if err != nil {
		r.refuseSignature(fmt.Errorf("%s: cannot be read: %w", whole, err))
		return
	}
	m, err := signed.ParseManifest(whole, f.data)
	if err != nil {
		r.refuseSignature(err)
		return
	}
	r.signature.manifest = m
	switch {
	case len(trust.Keys) > 0:
	case trust.Required:
		r.refuseSignature(fmt.Errorf("%s: no key is trusted, and agent.toml requires a signature; name trusted_keys there", whole))
		return
	default:
		return
	}
	text, err := r.fetch(d, signed.SignatureName, signed.MaxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.refuseSignature(fmt.Errorf("%s: cannot be read: %w", filepath.Join(r.dir, signed.SignatureName), err))
		return
	}
	key, err := signed.Verify(f.data, text.data, trust.Keys)
	if err != nil {
		r.refuseSignature(fmt.Errorf("%s: %w", filepath.Join(r.dir, signed.SignatureName), err))
		return
	}
	r.signature.key, r.signature.revision = key, m.Revision
}

// checkSignature compares what was read with what the manifest lists.
func (r *reading) checkSignature() {
	if r.signature.manifest == nil {
		return
	}
	if err := r.signature.manifest.Check(r.sums()); err != nil {
		r.refuseSignature(fmt.Errorf("%s: the set is not what its manifest says:\n%w", filepath.Join(r.dir, signed.ManifestName), err))
	}
}

func (r *reading) refuseSignature(err error) {
	r.refused = append(r.refused, refusal{signed.ManifestName, err})
}

// sums are the digests of the documents, modules and pods, by their path.
func (r *reading) sums() map[string]string {
	sums := make(map[string]string, len(r.files))
	for path := range r.files {
		if path != signed.ManifestName && path != signed.SignatureName {
			sums[path] = r.files[path].sum
		}
	}
	return sums
}

// empty reports whether the set is one without policies that somebody trusted
// has signed.
func (r *reading) empty() bool {
	return r.signature.key != "" && len(r.signature.manifest.Files) == 0
}

// older refuses a signed set whose revision is lower than that of the last one.
func (r *reading) older(last uint64) error {
	if r.signature.key == "" || r.signature.revision >= last {
		return nil
	}
	return fmt.Errorf("%s: revision %d is lower than %d, which was in force; sign the set with a higher one, or go back with wardlet policy rollback",
		filepath.Join(r.dir, signed.ManifestName), r.signature.revision, last)
}

// Files are the documents, modules and pods of tests of a directory of
// policies: what a signature of it is about. Each is given by its path and its
// SHA-256 in hex. A directory without policies has none, which is no error.
func Files(dir string) (map[string]string, error) {
	r := read(&Config{Dir: dir, AllowUnpinned: true})
	if !r.steady {
		return nil, fmt.Errorf("the files in %s change while they are read; try again", dir)
	}
	r.refused = slices.DeleteFunc(r.refused, func(f refusal) bool {
		_, empty := errors.AsType[*noPolicies](f.err)
		return empty
	})
	return r.sums(), r.faults(signed.ManifestName)
}
