package bundle

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
	// Keys are the trusted keys. Nothing in a directory of policies can add to them.
	Keys []signed.PublicKey
	// Required refuses sets without a signature.
	Required bool
}

// Signature has what the manifest of a set proves. The zero value is the signature of a set
// without a manifest.
type Signature struct {
	manifest *signed.Manifest
	// Revision is 0 and Key empty if no trusted key has signed the manifest.
	Revision uint64
	Key      string
}

// readSignature reads the manifest of the set, if there is one, and verifies its
// signature if there are trusted keys.
func (b *Bundle) readSignature(d *Directory) {
	trust := b.Options.Trust
	whole := filepath.Join(b.Dir, signed.ManifestName)
	f, err := b.Fetch(d, signed.ManifestName, strict.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		if trust.Required {
			b.refuseSignature(fmt.Errorf("%s: missing, and agent.toml requires a signature; sign the set with wardlet policy sign", whole))
		}
		return
	}
	if err != nil {
		b.refuseSignature(fmt.Errorf("%s: cannot be read: %w", whole, err))
		return
	}
	m, err := signed.ParseManifest(whole, f.Data)
	if err != nil {
		b.refuseSignature(err)
		return
	}
	b.Signature.manifest = m
	switch {
	case len(trust.Keys) > 0:
	case trust.Required:
		b.refuseSignature(fmt.Errorf("%s: no key is trusted, and agent.toml requires a signature; name trusted_keys there", whole))
		return
	default:
		return
	}
	text, err := b.Fetch(d, signed.SignatureName, signed.MaxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.refuseSignature(fmt.Errorf("%s: cannot be read: %w", filepath.Join(b.Dir, signed.SignatureName), err))
		return
	}
	key, err := signed.Verify(f.Data, text.Data, trust.Keys)
	if err != nil {
		b.refuseSignature(fmt.Errorf("%s: %w", filepath.Join(b.Dir, signed.SignatureName), err))
		return
	}
	b.Signature.Key, b.Signature.Revision = key, m.Revision
}

// checkSignature compares the files that were read with the manifest.
func (b *Bundle) checkSignature() {
	if b.Signature.manifest == nil {
		return
	}
	if err := b.Signature.manifest.Check(b.sums()); err != nil {
		b.refuseSignature(fmt.Errorf("%s: the set is not what its manifest says:\n%w", filepath.Join(b.Dir, signed.ManifestName), err))
	}
}

func (b *Bundle) refuseSignature(err error) {
	b.Refused = append(b.Refused, Refusal{signed.ManifestName, err})
}

// sums returns the digests of the documents, modules and pods by path.
func (b *Bundle) sums() map[string]string {
	sums := make(map[string]string, len(b.Files))
	for path := range b.Files {
		if path != signed.ManifestName && path != signed.SignatureName {
			sums[path] = b.Files[path].Sum
		}
	}
	return sums
}

// empty reports whether a trusted key has signed the set as one without policies.
func (b *Bundle) empty() bool {
	return b.Signature.Key != "" && len(b.Signature.manifest.Files) == 0
}

// Older returns an error for a signed set whose revision is lower than last, else nil.
func (b *Bundle) Older(last uint64) error {
	if b.Signature.Key == "" || b.Signature.Revision >= last {
		return nil
	}
	return fmt.Errorf("%s: revision %d is lower than %d, which was in force; sign the set with a higher one, or go back with wardlet policy rollback",
		filepath.Join(b.Dir, signed.ManifestName), b.Signature.Revision, last)
}

// Files returns the files that a signature of a directory of policies covers: its
// documents, modules and pods of tests, by path, with the SHA-256 of each in hex. A
// directory without policies has no such files, which is not an error.
func Files(dir string) (map[string]string, error) {
	b := Read(Options{Dir: dir, AllowUnpinned: true})
	if !b.Steady {
		return nil, fmt.Errorf("the files in %s change while they are read; try again", dir)
	}
	b.Refused = slices.DeleteFunc(b.Refused, func(f Refusal) bool {
		_, empty := errors.AsType[*noPolicies](f.Err)
		return empty
	})
	return b.sums(), b.faults(signed.ManifestName)
}
