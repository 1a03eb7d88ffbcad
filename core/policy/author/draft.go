package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/printable"
)

// Draft is a policy that its author works on. It is loaded even if it is off, if its module
// is not pinned or has another digest, or if other policies of its directory cannot be
// loaded. Only one call may run at a time.
type Draft struct {
	// Document is the path of the document. Name is the policy's name, with the suffix
	// ".shadow" for a candidate; if the document cannot be read, it is the document's name.
	Document, Name string
	// Module is the SHA-256 of the module in hex, empty if the module is missing. Pinned is
	// the digest in the document. For a group, both are a digest of its members' modules.
	Module, Pinned string
	// Size is the length of the module in bytes. LoadFuel is the fuel of its start.
	Size     int
	LoadFuel int64
	// Took is how long it took to compile the module and start the plugin.
	Took time.Duration
	// Err says why the policy cannot be asked, with file and line; nil if it can.
	Err error

	policy  *eval.Policy
	reading *bundle.Bundle
	loader  *rollout.Loader
}

// shadowSuffix distinguishes a candidate from its policy. No name of a policy has a dot.
const shadowSuffix = ".shadow"

// Drafts loads the policies of the directory o.Dir, or only one document if it is named. Of
// the other options it uses the limits for modules, Loader, Logger and Node. The error says
// why the directory cannot be read. Each draft must be closed.
func Drafts(ctx context.Context, o rollout.Options, document string) ([]*Draft, error) {
	o.AllowUnpinned = true
	d, err := bundle.OpenDirectory(o.Dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names := []string{document}
	if document == "" {
		if names, err = d.Documents(); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no policy (*.toml); wardlet policy new begins one", o.Dir)
	}
	r := bundle.New(o.Options)
	all := make([]*Draft, 0, len(names))
	for _, name := range names {
		draft := &Draft{Document: filepath.Join(o.Dir, name), Name: name, reading: r, loader: &rollout.Loader{Options: &o}}
		known := len(r.Documents)
		if r.ReadDocument(d, name); len(r.Documents) == known {
			draft.Err = r.Refused[len(r.Refused)-1].Err
		} else {
			draft.load(ctx, d, r.Documents[known])
			draft.unique(all)
		}
		all = append(all, draft)
	}
	for _, draft := range all {
		if draft.Group() {
			draft.join(ctx, d, all)
		}
	}
	return all, nil
}

// unique refuses the draft if an earlier one has the same name.
func (d *Draft) unique(others []*Draft) {
	i := slices.IndexFunc(others, func(other *Draft) bool { return other.policy != nil && other.Name == d.Name })
	if i >= 0 {
		d.policy.Complain("name", "%q is the name of the policy in %s too; give each its own", d.policy.Name, printable.Line(others[i].policy.Path))
		d.Err = d.policy.Err()
	}
}

// load loads the plugin of a document.
func (d *Draft) load(ctx context.Context, dir *bundle.Directory, doc *spec.Document) {
	c := d.loader.Options
	d.Name, d.Pinned = doc.Name, doc.SHA256
	if doc.Mode == spec.ModeShadow {
		d.Name += shadowSuffix
	}
	if doc.IsGroup() {
		d.policy = &eval.Policy{Document: doc, Counters: &eval.Counters{}, Log: c.Logger}
		d.reading.ReadPods(dir, doc)
		return
	}
	doc.SHA256 = "" // another digest is only worth a note
	f, err := d.reading.Fetch(dir, doc.Module, d.reading.Options.MaxModule())
	if errors.Is(err, fs.ErrNotExist) {
		doc.Complain("module", "%s is missing; build it first: make, where wardlet policy new made the folder", doc.Module)
	} else {
		d.reading.ReadModule(dir, doc)
	}
	d.reading.ReadPods(dir, doc)
	d.policy = &eval.Policy{Document: doc, ModuleSum: f.Sum, DocumentSum: d.reading.Files[doc.Path].Sum, Counters: &eval.Counters{}, Log: c.Logger}
	d.Module, d.Size = f.Sum, len(f.Data)
	if f.Data == nil || len(doc.Complaints) > 0 {
		d.Err = doc.Err()
		return
	}
	options := doc.PluginOptions(c.Node)
	begun := time.Now()
	plugin, err := c.Loader.Load(ctx, f.Data, options)
	d.Took = time.Since(begun)
	if err != nil {
		doc.Complain(doc.KeyOfFailure(err), "%s cannot be loaded: %v", doc.Module, err)
		d.Err = doc.Err()
		return
	}
	d.LoadFuel = plugin.LoadFuel()
	d.policy.Plugin = eval.NewSharedPlugin(plugin, f.Sum, options, c.Logger)
}

// Close closes the plugin, or the plugins of a group's members.
func (d *Draft) Close() {
	if d.policy == nil {
		return
	}
	for _, p := range append([]*eval.Policy{d.policy}, d.policy.Members...) {
		if p.Plugin != nil {
			p.Plugin.Release()
		}
	}
}

// Dir returns the directory of the document.
func (d *Draft) Dir() string { return d.reading.Dir }

// Hooks returns the hooks that can ask the policy.
func (d *Draft) Hooks() []string { return d.policy.TestHooks() }

// Limits bound one call of a plugin: units of fuel, pages of 64 KiB, bytes.
type Limits struct {
	Fuel        int `json:"fuel"`
	MemoryPages int `json:"memoryPages"`
	OutputBytes int `json:"outputBytes"`
}

// Limits returns the limits of the document; for a group, the sums of its members' limits.
func (d *Draft) Limits() (l Limits) {
	asked := []*eval.Policy{d.policy}
	if d.Group() {
		asked = d.policy.Members
	}
	for _, p := range asked {
		l.Fuel, l.MemoryPages, l.OutputBytes = l.Fuel+p.Limits.Fuel, l.MemoryPages+p.Limits.MemoryPages, l.OutputBytes+p.Limits.OutputBytes
	}
	return l
}

// fault returns a complaint at a key of the document, with file and line. Quoted text is
// not escaped.
func (d *Draft) fault(key, format string, args ...any) string {
	one := spec.Document{Keys: d.policy.Keys, Path: d.policy.Path, File: d.policy.File, Text: d.policy.Text}
	one.Complain(key, format, args...)
	return strings.Join(spec.FaultLines(one.Err()), "\n")
}

// Refusals returns the reasons why the policy cannot be asked, each with file and line;
// none if it can.
func (d *Draft) Refusals() []string { return spec.FaultLines(d.Err) }

// Reset makes the plugin ready for the next call.
func (d *Draft) Reset(ctx context.Context) { d.policy.Plugin.Plugin.Reset(ctx) }

// Footprint returns the memory of the plugin after a call; ok is false if it is not known.
func (d *Draft) Footprint() (f wasm.Footprint, ok bool) {
	p, ok := d.policy.Plugin.Plugin.(interface{ Footprint() wasm.Footprint })
	if ok {
		f = p.Footprint()
	}
	return f, ok
}

// dryRun returns a context in which instances that the plugin breaks are charged to no
// tenant.
func dryRun(ctx context.Context) context.Context { return wasm.DryRun(ctx) }
