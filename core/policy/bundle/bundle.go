package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// Limits for the files that are read, in bytes.
const (
	maxPod = 1 << 20
	// maxSet is the limit for all files together.
	maxSet = 64 << 20
)

// Options say how a directory is read.
type Options struct {
	// Dir is the directory. Links in it are followed.
	Dir string
	// Awaited names what fills Dir if no person does, "the ConfigMap a/b"; empty otherwise.
	Awaited string
	// Trust says whose signature the set must have.
	Trust Trust
	// AllowUnpinned lets documents leave out the digest of their module.
	AllowUnpinned bool
	// ModuleBytes is the length of the longest module that is read; 0 for
	// wasm.MaxModuleBytes.
	ModuleBytes int
	// Memory is how many bytes of memory the plugins of the set may use together, and how
	// many its decoded documents may use; 0 for no limit.
	Memory int64
}

// MaxModule returns the length of the longest module that is read, in bytes.
func (o *Options) MaxModule() int64 { return int64(cmp.Or(o.ModuleBytes, wasm.MaxModuleBytes())) }

// Bundle is the content of a directory of policies, read once.
type Bundle struct {
	Options Options
	Dir     string
	// Documents are the documents that could be decoded, sorted by name.
	Documents []*spec.Document
	// Files are the documents, modules and pods that could be read, by path.
	Files map[string]File
	// size is the length of all files in bytes. text is the length of the documents.
	size, text int64
	// Stamps are the stamps of the directory (".") and of every name that was read.
	Stamps map[string]fswatch.Stamp
	// Refused are faults of documents that could not be decoded, and of the directory.
	Refused []Refusal
	// Signature has what the manifest of the set proves.
	Signature Signature
	// Steady reports that nothing changed while the bundle was read.
	Steady bool
	// Whole reports that nothing failed with an error that may be gone at the next attempt.
	Whole bool
}

// File is a file of the set.
type File struct {
	Data []byte
	// Sum is the SHA-256 of Data in hex.
	Sum string
}

// Refusal is a fault of a document that could not be decoded or, if its Path is empty,
// of the directory.
type Refusal struct {
	Path string
	Err  error
}

// New returns an empty bundle, for callers that read documents one by one.
func New(o Options) *Bundle {
	return &Bundle{Options: o, Dir: o.Dir, Files: map[string]File{}, Stamps: map[string]fswatch.Stamp{}, Steady: true, Whole: true}
}

// Read reads a directory. Faults are in the bundle; see Err.
func Read(o Options) *Bundle {
	b := New(o)
	d, err := OpenDirectory(o.Dir)
	if _, missing := errors.AsType[*missingError](err); missing && o.Awaited != "" {
		return b.fail(fmt.Errorf("%s has not been read yet: it does not exist, the API server cannot be reached, or the agent has only just started", o.Awaited))
	}
	if err != nil {
		return b.fail(err)
	}
	defer d.Close()
	b.Stamps["."] = d.stamp(".")
	names, err := d.Documents()
	if err != nil {
		return b.fail(err)
	}
	b.readSignature(d)
	if len(names) == 0 && !b.empty() {
		return b.fail(&noPolicies{o.Dir})
	}
	for _, name := range names {
		b.ReadDocument(d, name)
	}
	b.checkNames()
	for _, doc := range b.Documents {
		if !doc.IsGroup() {
			b.ReadModule(d, doc)
		}
		b.ReadPods(d, doc)
	}
	b.checkSignature()
	return b
}

// noPolicies is the error of a directory without policies that is not signed as empty.
type noPolicies struct{ dir string }

func (e *noPolicies) Error() string {
	return fmt.Sprintf("the policy directory %s has no policy (*.toml); add one, or take it out of agent.toml to have no policies", e.dir)
}

// fail adds a fault of the directory itself.
func (b *Bundle) fail(err error) *Bundle {
	b.Refused = append(b.Refused, Refusal{"", err})
	b.Whole = false
	return b
}

// ReadDocument adds a document of the directory, or a Refusal.
func (b *Bundle) ReadDocument(d *Directory, name string) {
	whole := filepath.Join(b.Dir, name)
	f, err := b.Fetch(d, name, strict.MaxSize)
	if err != nil {
		b.Refused = append(b.Refused, Refusal{name, spec.InFile(whole, fmt.Errorf("cannot be read: %w", err))})
		return
	}
	b.text += int64(len(f.Data))
	if err := b.Options.roomFor(b.text); err != nil {
		b.Refused = append(b.Refused, Refusal{name, spec.InFile(whole, err)})
		return
	}
	doc, err := spec.Parse(name, whole, f.Data, b.Options.AllowUnpinned)
	if err != nil {
		b.Refused = append(b.Refused, Refusal{name, err})
		return
	}
	b.Documents = append(b.Documents, doc)
}

// checkNames refuses a name that two policies have, and candidates that replace no policy.
func (b *Bundle) checkNames() {
	first, candidates := map[string]*spec.Document{}, map[string]*spec.Document{}
	for _, doc := range b.Documents {
		these := first
		if doc.Mode == spec.ModeShadow {
			these = candidates
		}
		if other := these[doc.Name]; other != nil {
			doc.Complain("name", "%q is the name of the policy in %s too; give each its own", doc.Name, printable.Line(other.Path))
			continue
		}
		these[doc.Name] = doc
	}
	b.checkGroups(first)
	for name, doc := range candidates {
		if of := first[name]; of == nil || of.Mode == spec.ModeOff || of.IsGroup() {
			doc.Complain("mode", "it is %q, and there is no policy %q in another mode that it could be compared with; name the one that it is to replace", spec.ModeShadow, name)
		}
	}
}

// ReadModule reads a document's module and compares its digest.
func (b *Bundle) ReadModule(d *Directory, doc *spec.Document) {
	f, err := b.Fetch(d, doc.Module, b.Options.MaxModule())
	_, long := errors.AsType[*tooLong](err)
	switch {
	case long:
		doc.Complain("module", "%s cannot be read: %v; build it smaller, or raise policy.module_bytes in agent.toml", doc.Module, err)
	case err != nil:
		doc.Complain("module", "%s cannot be read: %v", doc.Module, err)
	case doc.SHA256 != "" && f.Sum != doc.SHA256:
		doc.Complain("sha256", "%s has the digest %s: if that is the module meant, write it here, else put the right module in place", doc.Module, f.Sum)
	}
}

// ReadPods reads the files of a document's tests.
func (b *Bundle) ReadPods(d *Directory, doc *spec.Document) {
	for i := range doc.Tests {
		for _, f := range doc.Tests[i].Files(spec.KeyOfTest(i)) {
			if _, err := b.Fetch(d, f.Path, maxPod); err != nil {
				doc.Complain(f.Key, "%s cannot be read: %v", f.Path, err)
			}
		}
	}
}

// Put adds a file that is not in the directory.
func (b *Bundle) Put(path string, data []byte) {
	sum := sha256.Sum256(data)
	b.Files[path] = File{Data: data, Sum: hex.EncodeToString(sum[:])}
}

// Fetch reads a file of at most limit bytes, each only once.
func (b *Bundle) Fetch(d *Directory, path string, limit int64) (File, error) {
	if f, ok := b.Files[path]; ok && int64(len(f.Data)) <= limit {
		return f, nil
	}
	b.Stamps[path] = d.stamp(path)
	data, steady, err := d.read(path, limit)
	b.Steady = b.Steady && steady
	if err != nil {
		// If the name is missing or is not a file, its stamp changes once that is repaired.
		_, system := errors.AsType[syscall.Errno](err)
		b.Whole = b.Whole && (!system || errors.Is(err, fs.ErrNotExist))
		return File{}, err
	}
	if b.size += int64(len(data)); b.size > maxSet {
		return File{}, errTooMuch
	}
	sum := sha256.Sum256(data)
	f := File{data, hex.EncodeToString(sum[:])}
	b.Files[path] = f
	return f, nil
}

// Took returns the cost of reading, in fuel.
func (b *Bundle) Took() int64 { return b.size*ReadByteFuel + b.text*DocumentByteFuel }

var errTooMuch = errors.New("with it the files of the set are larger than 64 MiB together")

// Err returns every fault, ordered by document; nil if there is none.
func (b *Bundle) Err() error { return b.faults("") }

// faults returns the same as Err, without the faults of one file.
func (b *Bundle) faults(but string) error {
	all := slices.DeleteFunc(slices.Clone(b.Refused), func(f Refusal) bool { return but != "" && f.Path == but })
	for _, doc := range b.Documents {
		if err := doc.Err(); err != nil {
			all = append(all, Refusal{doc.Path, err})
		}
	}
	slices.SortStableFunc(all, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	errs := make([]error, len(all))
	for i := range all {
		errs[i] = all[i].Err
	}
	return errors.Join(errs...)
}

// checkGroups refuses groups that name policies which are no members, and members that no
// group names. all are the documents by name, without candidates.
func (b *Bundle) checkGroups(all map[string]*spec.Document) {
	if len(b.Refused) > 0 {
		return // a missing policy may be in a document that could not be read
	}
	named := map[string]bool{}
	for _, group := range b.Documents {
		if !group.IsGroup() {
			continue
		}
		for _, name := range group.Group.Names() {
			named[name] = true
		}
		group.CheckMembers(all)
	}
	for _, doc := range all {
		if doc.Mode == spec.ModeMember && !named[doc.Name] {
			doc.Complain("mode", "it is %q, and no group names the policy, so nothing comes of what it says; name it in a group, or choose another mode", spec.ModeMember)
		}
	}
}

// ReadByteFuel is the fuel for reading and hashing a byte.
const ReadByteFuel = 4

// DocumentByteFuel is the fuel for decoding a byte of a document. Short conditions take the
// longest to compile.
const DocumentByteFuel = 12_000

// Digest returns 64 hexadecimal digits that identify the content of the set: the paths
// and digests of its documents, modules and pods.
func (b *Bundle) Digest() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(b.Files)) {
		fmt.Fprintf(h, "%q %s\n", path, b.Files[path].Sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Content returns a digest of the content, its faults, and everything else that decides
// whether a version of the agent refuses it.
func (b *Bundle) Content(version string) string {
	o := &b.Options
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%v\n%q %t %d %t %d", b.Digest(), b.Err(), version, o.AllowUnpinned, o.MaxModule(), o.Trust.Required, o.Memory))
	return hex.EncodeToString(sum[:])
}

// PageBytes is the length of a page of a plugin's memory.
const PageBytes = 64 << 10

// decodedFactor is how many bytes of memory a byte of a document may need once it is
// decoded: small tables need some 60, short conditions some 240.
const decodedFactor = 256

// roomFor refuses documents of a tenant that need more memory than its plugins may use:
// documents stay decoded as long as they are in force.
func (o *Options) roomFor(text int64) error {
	if most := o.Memory / decodedFactor; most > 0 && text > most {
		return fmt.Errorf("with it the documents have %d bytes together, more than the %d for which policy_memory in agent.toml has room; make their settings smaller, or leave policies out", text, most)
	}
	return nil
}

// CheckMemory refuses policies of a tenant if one instance of each of their plugins could
// together use more memory than the tenant may.
func (b *Bundle) CheckMemory(tenant string) {
	most := b.Options.Memory
	if most <= 0 {
		return
	}
	var sum int64
	for _, doc := range b.Documents {
		if doc.Mode == spec.ModeOff || doc.IsGroup() {
			continue
		}
		if sum += int64(doc.Limits.MemoryPages) * PageBytes; sum > most {
			doc.Complain("limits.memory_pages", "with these %d pages the policies of tenant %q may take %d bytes of memory, more than the %d of its policy_memory in agent.toml; lower the limits, or leave policies out",
				doc.Limits.MemoryPages, tenant, sum, most)
		}
	}
}
