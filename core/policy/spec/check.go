package spec

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/mutate"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/strict"
)

const (
	maxPriority    = 1000
	maxMemoryPages = 1024
	minOutputBytes = 1 << 10
	maxOutputBytes = 1 << 20
	// A call that uses the default fuel takes some 2 ms. It takes 10 ms with the operations
	// that cost least fuel for their time, and 30 ms if the host sorts large maps all the
	// time.
	minFuel = 1000
	// DefaultFuel is the fuel that a call may use if the document has no limits.fuel.
	DefaultFuel = 10_000_000
	maxFuel     = 1_000_000_000
	// maxTests is the greatest number of tests of one document.
	maxTests = 100
	// MaxCandidates is the greatest number of candidates of a test of the hook merge.
	MaxCandidates = 16
	// maxMutablePaths is how many paths a policy may name.
	maxMutablePaths = 64
)

// check reports errors in keys that were decoded.
func (d *Document) check(report strict.Report, allowUnpinned bool) {
	if d.API != apiV1 {
		report("api", "missing; a policy begins with api = %q", apiV1)
	}
	if d.Name == "" {
		report("name", `missing; it names the policy in verdicts, for example name = "allowed-images"`)
	} else {
		for _, fault := range validation.IsDNS1123Label(d.Name) {
			report("name", "%q is no DNS label: %s", d.Name, fault)
		}
	}
	if d.IsGroup() {
		d.checkGroup(report)
		return
	}
	if d.Message != "" {
		report("message", "it is for groups; what a policy says its plugin gives")
	}
	checkPath(report, "module", d.Module)
	d.checkPin(report, allowUnpinned)
	d.checkHooks(report)
	oneOf(report, "mode", d.Mode, ModeEnforce, ModeWarn, ModeAudit, ModeShadow, ModeMember, ModeOff)
	d.checkMember(report)
	between(report, "priority", d.Priority, 0, maxPriority)
	oneOf(report, "on_error", d.OnError, api.Hold, api.Deny, api.Allow, LastVerdict)
	d.checkOnChange(report)
	d.checkMutablePaths(report)
	for i, name := range d.Capabilities {
		key := fmt.Sprintf("capabilities[%d]", i)
		oneOf(report, key, name, abi.Capabilities...)
		if slices.Contains(d.Capabilities[:i], name) {
			report(key, "%q stands twice", name)
		}
	}
	d.Match.check(report)
	d.Limits.check(report)
	d.checkExceptions(report)
	d.checkThreshold(report)
	d.checkTests(report)
}

func (d *Document) checkPin(report strict.Report, allowUnpinned bool) {
	_, err := hex.DecodeString(d.SHA256)
	switch {
	case d.SHA256 == "" && !allowUnpinned:
		report("sha256", "missing; write what sha256sum says of the module, or set policy.allow_unpinned in agent.toml for development")
	case d.SHA256 != "" && (err != nil || len(d.SHA256) != 64):
		report("sha256", "want 64 hexadecimal digits, found %.80q", d.SHA256)
	}
	d.SHA256 = strings.ToLower(d.SHA256)
}

func (d *Document) checkHooks(report strict.Report) {
	if len(d.Hooks) == 0 {
		report("hooks", `missing; want ["admit"]`)
	}
	for i, hook := range d.Hooks {
		key := fmt.Sprintf("hooks[%d]", i)
		oneOf(report, key, hook, api.HookAdmit, api.HookMerge, api.HookFilter, api.HookConnect)
		if slices.Contains(d.Hooks[:i], hook) {
			report(key, "%q stands twice", hook)
		}
	}
	if ops := d.Match.Operations; slices.Contains(d.Hooks, api.HookConnect) && len(ops) > 0 && !slices.Contains(ops, api.Connect) {
		report("match.operations", "the operation of the hook %s is %q, which is missing: the policy would allow every connection; add it, or leave operations out", api.HookConnect, api.Connect)
	}
}

// checkOnChange refuses on_change for a policy that is never asked about running pods.
// Running pods are judged as if they were new.
func (d *Document) checkOnChange(report strict.Report) {
	oneOf(report, "on_change", d.OnChange, OnChangeIgnore, onChangeReport, OnChangeEvict)
	switch {
	case d.OnChange == OnChangeIgnore:
	case !slices.Contains(d.Hooks, api.HookAdmit) && !slices.Contains(d.Hooks, api.HookMerge):
		report("on_change", "only a policy with the hook admit or merge has a say in pods that run; leave it out, or add one")
	case slices.Contains(d.Hooks, api.HookAdmit) && len(d.Match.Operations) > 0 && !slices.Contains(d.Match.Operations, api.Add):
		report("on_change", "pods that run are judged as if they came now, and match.operations leaves %s out; leave on_change out, or add that", api.Add)
	}
}

func (d *Document) checkMutablePaths(report strict.Report) {
	switch {
	case len(d.MutablePaths) == 0:
	case len(d.MutablePaths) > maxMutablePaths:
		report("mutable_paths", "%d paths, more than the %d a policy may have", len(d.MutablePaths), maxMutablePaths)
		return
	case !slices.Contains(d.Hooks, api.HookAdmit) && !slices.Contains(d.Hooks, api.HookMerge):
		report("mutable_paths", "only a policy with the hook admit or merge changes pods; leave it out, or add one of them")
	}
	for i, path := range d.MutablePaths {
		key := fmt.Sprintf("mutable_paths[%d]", i)
		if err := mutate.CheckPath(path); err != nil {
			report(key, "%v", err)
		}
		if slices.Contains(d.MutablePaths[:i], path) {
			report(key, "%q stands twice", path)
		}
	}
}

func (l *Limits) check(report strict.Report) {
	between(report, "limits.memory_pages", l.MemoryPages, 1, maxMemoryPages)
	between(report, "limits.output_bytes", l.OutputBytes, minOutputBytes, maxOutputBytes)
	between(report, "limits.fuel", l.Fuel, minFuel, maxFuel)
	if l.MaxSuppress <= 0 {
		report("limits.max_suppress", "want a duration above 0, found %s", l.MaxSuppress)
	}
}

// checkPath reports a path that leaves the document's directory.
func checkPath(report strict.Report, key, path string) {
	switch {
	case path == "":
		report(key, "missing; name a file relative to this document")
	case !filepath.IsLocal(path), filepath.Clean(path) != path, path == ".":
		report(key, "want a plain path below the directory of this document, found %.200q", path)
	}
}

// oneOf reports a value that is not one of known.
func oneOf[T ~string](report strict.Report, key string, value T, known ...T) {
	quoted := make([]string, len(known))
	for i, k := range known {
		quoted[i] = fmt.Sprintf("%q", k)
	}
	want := strings.Join(quoted, ", ")
	if i := strings.LastIndex(want, ", "); i >= 0 {
		want = want[:i] + " or" + want[i+1:]
	}
	switch {
	case slices.Contains(known, value):
	case value == "":
		report(key, "missing; want %s", want)
	default:
		report(key, "want %s, found %.80q", want, value)
	}
}

func between(report strict.Report, key string, value, least, most int) {
	if value < least || value > most {
		report(key, "want %d to %d, found %d", least, most, value)
	}
}
