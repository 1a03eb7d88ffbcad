package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// Bounds of what is read, in bytes.
const (
	maxPod = 1 << 20
	// maxSet bounds all files together.
	maxSet = 64 << 20
)

// reading is the content of the directory, read once.
type reading struct {
	dir string
	// documents are those that could be decoded, by name.
	documents []*document
	// files are the documents, modules and pods that could be read, by path.
	files map[string]file
	// size is how many bytes they have, text how many the documents.
	size, text int64
	// stamps are those of the directory (".") and of every name that was
	// looked at.
	stamps map[string]fswatch.Stamp
	// refused are faults of documents that could not be decoded, and of the
	// directory itself (by the empty name).
	refused []refusal
	// signature is that of the set.
	signature signature
	// steady: nothing changed while it was read.
	steady bool
	// whole: nothing failed in a way that may be over with the next look.
	whole bool
}

type file struct {
	data []byte
	// sum is the SHA-256 of data in hex.
	sum string
}

type refusal struct {
	path string
	err  error
}

// read reads the directory of a configuration. What is wrong is in the answer.
func read(c *Config) *reading {
	dir := c.Dir
	r := &reading{dir: dir, files: map[string]file{}, stamps: map[string]fswatch.Stamp{}, steady: true, whole: true}
	d, err := openDirectory(dir)
	if err != nil {
		return r.fail(err)
	}
	defer d.close()
	r.stamps["."] = d.stamp(".")
	names, err := d.documents()
	if err != nil {
		return r.fail(err)
	}
	r.readSignature(d, c.Trust)
	if len(names) == 0 && !r.empty() {
		return r.fail(&noPolicies{dir})
	}
	for _, name := range names {
		r.readDocument(d, name, c)
	}
	r.unite()
	for _, doc := range r.documents {
		if !doc.isGroup() {
			r.readModule(d, doc, c.moduleBytes())
		}
		r.readPods(d, doc)
	}
	r.checkSignature()
	return r
}

// noPolicies is a directory without policies whose emptiness nobody has signed.
type noPolicies struct{ dir string }

func (e *noPolicies) Error() string {
	return fmt.Sprintf("the policy directory %s has no policy (*.toml); add one, or take it out of agent.toml to have no policies", e.dir)
}

// fail puts down a fault of the directory itself.
func (r *reading) fail(err error) *reading {
	r.refused = append(r.refused, refusal{"", err})
	r.whole = false
	return r
}

func (r *reading) readDocument(d *directory, name string, c *Config) {
	whole := filepath.Join(r.dir, name)
	f, err := r.fetch(d, name, strict.MaxSize)
	if err != nil {
		r.refused = append(r.refused, refusal{name, InFile(whole, fmt.Errorf("cannot be read: %w", err))})
		return
	}
	r.text += int64(len(f.data))
	if err := c.roomFor(r.text); err != nil {
		r.refused = append(r.refused, refusal{name, InFile(whole, err)})
		return
	}
	doc, err := parseDocument(name, whole, f.data, c.AllowUnpinned)
	if err != nil {
		r.refused = append(r.refused, refusal{name, err})
		return
	}
	r.documents = append(r.documents, doc)
}

// unite refuses names that stand for two policies, and candidates of none.
func (r *reading) unite() {
	first, candidates := map[string]*document{}, map[string]*document{}
	for _, doc := range r.documents {
		these := first
		if doc.Mode == modeShadow {
			these = candidates
		}
		if other := these[doc.Name]; other != nil {
			doc.complain("name", "%q is the name of the policy in %s too; give each its own", doc.Name, printable.Line(other.path))
			continue
		}
		these[doc.Name] = doc
	}
	r.uniteGroups(first)
	for name, doc := range candidates {
		if of := first[name]; of == nil || of.Mode == modeOff || of.isGroup() {
			doc.complain("mode", "it is %q, and there is no policy %q in another mode that it could be compared with; name the one that it is to replace", modeShadow, name)
		}
	}
}

// readModule reads a document's module of at most limit bytes and compares its
// digest.
func (r *reading) readModule(d *directory, doc *document, limit int64) {
	f, err := r.fetch(d, doc.Module, limit)
	_, long := errors.AsType[*tooLong](err)
	switch {
	case long:
		doc.complain("module", "%s cannot be read: %v; build it smaller, or raise policy.module_bytes in agent.toml", doc.Module, err)
	case err != nil:
		doc.complain("module", "%s cannot be read: %v", doc.Module, err)
	case doc.SHA256 != "" && f.sum != doc.SHA256:
		doc.complain("sha256", "%s has the digest %s: if that is the module meant, write it here, else put the right module in place", doc.Module, f.sum)
	}
}

func (r *reading) readPods(d *directory, doc *document) {
	for i := range doc.Tests {
		for _, f := range doc.Tests[i].files(testKey(i)) {
			if _, err := r.fetch(d, f.path, maxPod); err != nil {
				doc.complain(f.key, "%s cannot be read: %v", f.path, err)
			}
		}
	}
}

// fetch reads a file, each only once.
func (r *reading) fetch(d *directory, path string, limit int64) (file, error) {
	if f, ok := r.files[path]; ok && int64(len(f.data)) <= limit {
		return f, nil
	}
	r.stamps[path] = d.stamp(path)
	data, steady, err := d.read(path, limit)
	r.steady = r.steady && steady
	if err != nil {
		// A name that is missing or no file has a stamp that will tell.
		_, system := errors.AsType[syscall.Errno](err)
		r.whole = r.whole && (!system || errors.Is(err, fs.ErrNotExist))
		return file{}, err
	}
	if r.size += int64(len(data)); r.size > maxSet {
		return file{}, errTooMuch
	}
	sum := sha256.Sum256(data)
	f := file{data, hex.EncodeToString(sum[:])}
	r.files[path] = f
	return f, nil
}

// took is what it took to read that, in fuel.
func (r *reading) took() int64 { return r.size*readByteFuel + r.text*documentByteFuel }

var errTooMuch = errors.New("with it the files of the set are larger than 64 MiB together")

// err gives every fault, ordered by document; nil where there is none.
func (r *reading) err() error { return r.faults("") }

// faults is err, leaving out what is wrong with one file.
func (r *reading) faults(but string) error {
	all := slices.DeleteFunc(slices.Clone(r.refused), func(f refusal) bool { return but != "" && f.path == but })
	for _, doc := range r.documents {
		if err := doc.err(); err != nil {
			all = append(all, refusal{doc.path, err})
		}
	}
	slices.SortStableFunc(all, func(a, b refusal) int { return strings.Compare(a.path, b.path) })
	errs := make([]error, len(all))
	for i := range all {
		errs[i] = all[i].err
	}
	return errors.Join(errs...)
}

// uniteGroups refuses groups of policies that are no members, and members of no group. all are
// the documents by name, but for candidates.
func (r *reading) uniteGroups(all map[string]*document) {
	if len(r.refused) > 0 {
		return // who is missing may stand in a document that could not be read
	}
	named := map[string]bool{}
	for _, group := range r.documents {
		if !group.isGroup() {
			continue
		}
		for _, name := range group.expression.names() {
			named[name] = true
		}
		group.checkMembers(all)
	}
	for _, doc := range all {
		if doc.Mode == modeMember && !named[doc.Name] {
			doc.complain("mode", "it is %q, and no group names the policy, so nothing comes of what it says; name it in a group, or choose another mode", modeMember)
		}
	}
}
