package decisions

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bundle writes records, with the documents and policy files that they name, as files for
// NewArchive: a part of a node's decisions, for use elsewhere. A complete bundle does not grow.
type Bundle struct {
	create func(name string) (io.Writer, error)
	files  map[string]bool

	// owner is the owner of the segment that text belongs to.
	owner string
	first uint64
	text  []byte
	// inputs and named are the digests of the documents and of the policy files in text.
	inputs, named map[string]bool

	manifest bundleManifest
}

// NewBundle returns a bundle that creates its files with create: one after the other, and each
// once.
func NewBundle(create func(name string) (io.Writer, error)) *Bundle {
	return &Bundle{create: create, files: map[string]bool{}, manifest: newBundleManifest()}
}

// Add adds a record, with its documents and the files of its policies that the bundle does not have
// yet; policyFile returns these files. Records must be added in the order of Each. If Add returns
// an error, the record was not added. The caller must call Close at the end.
func (b *Bundle) Add(e *Entry, policyFile func(digest string) ([]byte, error)) error {
	owner, number, err := partsOfID(e.Record.ID)
	if err != nil {
		return err
	}
	body, err := json.Marshal(e.Record)
	if err != nil {
		return err
	}
	if err := b.policyFiles(e.Record, policyFile); err != nil {
		return err
	}
	if owner != b.owner || len(b.text) > maxSegment {
		if err := b.flush(); err != nil {
			return err
		}
		b.owner, b.first = owner, number
		b.inputs, b.named = map[string]bool{}, map[string]bool{}
	}
	for _, digest := range slices.Sorted(maps.Keys(e.Inputs)) {
		if !b.inputs[digest] {
			b.inputs[digest] = true
			b.text = (&line{kind: lineInput, digest: digest, body: e.Inputs[digest]}).append(b.text)
		}
	}
	e.Record.files(func(digest, tenant string) {
		if !b.named[tenant+"/"+digest] {
			b.named[tenant+"/"+digest] = true
			b.text = (&line{kind: lineFile, digest: digest, body: []byte(OwnerDir(tenant))}).append(b.text)
		}
	})
	b.text = (&line{kind: lineRecord, body: body}).append(b.text)
	b.manifest.Records++
	return nil
}

// policyFiles adds the files of a record's policies that the bundle does not have.
func (b *Bundle) policyFiles(r *Record, policyFile func(string) ([]byte, error)) (err error) {
	r.files(func(digest, _ string) {
		if err == nil && !b.files[digest] {
			err = b.file(digest, policyFile)
			b.files[digest] = err == nil
		}
	})
	return err
}

// file adds a file of a policy.
func (b *Bundle) file(digest string, policyFile func(string) ([]byte, error)) error {
	data, err := policyFile(digest)
	if err != nil {
		return err
	}
	packed, err := packedFile(data)
	if err != nil {
		return err
	}
	return b.write(path.Join(DirName, filesDir, digest+fileSuffix), packed)
}

// Close writes the last segment and the manifest.
func (b *Bundle) Close() error {
	if err := b.flush(); err != nil {
		return err
	}
	text, err := b.manifest.text()
	if err != nil {
		return err
	}
	return b.write(manifestName, text)
}

// flush writes the segment that text belongs to.
func (b *Bundle) flush() error {
	text := b.text
	b.text = nil
	if len(text) == 0 {
		return nil
	}
	return b.write(path.Join(DirName, b.owner, segmentName(b.first)), text)
}

func (b *Bundle) write(name string, data []byte) error {
	b.manifest.Files[name] = digestOf(data)
	w, err := b.create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// partsOfID returns the owner and the number in the ID of a record.
func partsOfID(id string) (owner string, number uint64, err error) {
	at := strings.LastIndexByte(id, '-')
	if at >= 0 {
		owner = id[:at]
		number, err = strconv.ParseUint(id[at+1:], 10, 64)
	}
	if _, ok := ownerCalled(owner); !ok || err != nil || number == 0 || path.Base(owner) != owner {
		return "", 0, fmt.Errorf("%q is no ID of a decision; one looks like operator-12", id)
	}
	return owner, number, nil
}
