package wasm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

const (
	markerPrefix = "wardlet_abi_"
	abiMajor     = "1"
)

// plugin reads a module and refuses what is no plugin. The error is a *Failure.
func plugin(binary []byte, caps verify.Caps, o *Options) (*module.Module, error) {
	m, err := module.Parse(binary, caps.Counts)
	if err != nil {
		return nil, &Failure{Code: AbiMismatch, Err: err}
	}
	return m, verifyPlugin(m, o)
}

// verified reads a module and refuses what cannot be run as a plugin, before
// any of it is compiled. The error is a *Failure.
func verified(binary []byte, caps verify.Caps, o *Options) (*module.Module, error) {
	m, err := plugin(binary, caps, o)
	if err != nil {
		return nil, err
	}
	return m, verifyShape(m, caps)
}

// verifyShape refuses a module for its shape.
func verifyShape(m *module.Module, caps verify.Caps) error {
	if _, refused := verify.Check(m, caps); len(refused) > 0 {
		reasons := make([]error, len(refused))
		for i, fault := range refused {
			reasons[i] = fault
		}
		return &Failure{Code: AbiMismatch, Err: errors.Join(reasons...)}
	}
	return nil
}

// reason is why a module is no plugin, and where that shows.
type reason struct {
	code  FailureCode
	fault *module.Fault
}

// reasonAt is a reason that a place in a section gives.
func reasonAt(code FailureCode, section byte, index, offset int, format string, args ...any) reason {
	s := module.Section{ID: section}
	return reason{code, &module.Fault{Section: s.Name(), Index: index, Offset: offset, What: fmt.Sprintf(format, args...)}}
}

// reasonOf is a reason that a section as a whole gives, or that it is missing.
func reasonOf(m *module.Module, section byte, format string, args ...any) reason {
	at := slices.IndexFunc(m.Sections, func(s module.Section) bool { return s.ID == section })
	if at < 0 {
		return reason{AbiMismatch, &module.Fault{Index: -1, Offset: m.Size, What: fmt.Sprintf(format, args...)}}
	}
	return reasonAt(AbiMismatch, section, -1, m.Sections[at].Offset, format, args...)
}

// maxTold bounds the reasons in one error.
const maxTold = 20

func failureFor(reasons ...reason) *Failure {
	told := make([]error, min(len(reasons), maxTold))
	for i := range told {
		told[i] = errors.New(reasons[i].fault.What)
	}
	return &Failure{Code: reasons[0].code, Err: errors.Join(told...)}
}

// pluginReasons are all reasons for which a module is no plugin of this ABI.
// verifyPlugin tells the first kind of them.
func pluginReasons(m *module.Module, o *Options) []reason {
	return slices.Concat(abiReasons(m), hookReasons(m, o.Hooks), nameReasons(m), importReasons(m), typeReasons(m), memoryReasons(m, o.MemoryPages))
}

// verifyPlugin refuses what is no plugin of this ABI. All unknown imports are
// named at once.
func verifyPlugin(m *module.Module, o *Options) error {
	if found := slices.Concat(abiReasons(m), hookReasons(m, o.Hooks), nameReasons(m)); len(found) > 0 {
		return failureFor(found...)
	}
	if err := verifyImports(m); err != nil {
		return &Failure{Code: HostDenied, Err: err}
	}
	if found := typeReasons(m); len(found) > 0 {
		return failureFor(found[0])
	}
	if found := memoryReasons(m, o.MemoryPages); len(found) > 0 {
		return failureFor(found...)
	}
	return nil
}

// reservedPrefix begins the names that a module gets when it is metered.
const reservedPrefix = "wardlet:"

// nameReasons are exports that the host could take for its own.
func nameReasons(m *module.Module) (found []reason) {
	for i := range m.Exports {
		if e := &m.Exports[i]; strings.HasPrefix(e.Name, reservedPrefix) {
			found = append(found, reasonAt(AbiMismatch, module.SectionExport, i, e.Offset,
				"the module exports %q: names that begin with %q are the host's", cut(e.Name, maxShown), reservedPrefix))
		}
	}
	return found
}

func memoryReasons(m *module.Module, pages uint32) []reason {
	own := len(m.Memories) - m.ImportedMemories
	memory := m.Export("memory")
	switch {
	case own != 1:
		return []reason{reasonOf(m, module.SectionMemory,
			"the module defines %d memories: it must have exactly one", own)}
	case memory == nil || memory.Kind != module.KindMemory:
		return []reason{reasonOf(m, module.SectionExport, `the module does not export its memory as "memory"`)}
	}
	if begin := &m.Memories[memory.Index]; begin.Min > uint64(pages) {
		return []reason{reasonAt(MemoryLimit, module.SectionMemory, int(memory.Index), begin.Offset,
			"the module begins with %d pages of memory, the policy allows %d: raise memory_pages of its [limits]", begin.Min, pages)}
	}
	return nil
}

// markers are the exports that name a version of the ABI, and whether the host
// has one of these versions.
func markers(m *module.Module) (found []*module.Export, supported bool) {
	for i := range m.Exports {
		e := &m.Exports[i]
		if !isMarker(e) {
			continue
		}
		major, minor, _ := strings.Cut(strings.TrimPrefix(e.Name, markerPrefix), "_")
		digits := minor != "" && strings.Trim(minor, "0123456789") == ""
		supported = supported || digits && major == abiMajor
		found = append(found, e)
	}
	return found, supported
}

func isMarker(e *module.Export) bool {
	return e.Kind == module.KindFunction && strings.HasPrefix(e.Name, markerPrefix)
}

func abiReasons(m *module.Module) []reason {
	found, supported := markers(m)
	switch {
	case supported:
		return nil
	case len(found) == 0:
		return []reason{reasonOf(m, module.SectionExport,
			"the module exports no function wardlet_abi_1_0: it is not a Wardlet plugin, or its SDK was not linked")}
	}
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.Name
	}
	slices.Sort(names)
	return []reason{reasonOf(m, module.SectionExport,
		"the module is made for %s: only wardlet_abi_1 is supported in this version", shown(strings.Join(names, ", ")))}
}

func hookReasons(m *module.Module, wanted []string) []reason {
	var found []reason
	for _, hook := range wanted {
		name, ok := hooks[hook]
		if !ok {
			found = append(found, reasonOf(m, module.SectionExport, "the hook %q is not supported in this version", hook))
		} else if e := m.Export(name); e == nil || e.Kind != module.KindFunction {
			found = append(found, reasonOf(m, module.SectionExport,
				"the policy names the hook %q, but the module exports no function %s", hook, name))
		}
	}
	return found
}

// unknownImports are the places of functions that are not offered. What is no
// function is refused by the module's shape.
func unknownImports(m *module.Module) []int {
	var unknown []int
	for i := range m.Imports {
		in := &m.Imports[i]
		if _, ok := offered(in.Module, in.Name); !ok && in.Kind == module.KindFunction {
			unknown = append(unknown, i)
		}
	}
	return unknown
}

func importName(in *module.Import) string {
	return fmt.Sprintf("%q of %q", cut(in.Name, maxShown), cut(in.Module, maxShown))
}

func importReasons(m *module.Module) []reason {
	var found []reason
	for _, i := range unknownImports(m) {
		in := &m.Imports[i]
		found = append(found, reasonAt(HostDenied, module.SectionImport, i, in.Offset,
			"the module asks for %s, which is not offered; docs/abi.md lists what is", importName(in)))
	}
	return found
}

func verifyImports(m *module.Module) error {
	places := unknownImports(m)
	if len(places) == 0 {
		return nil
	}
	const shown = 10
	more := ""
	if len(places) > shown {
		more = fmt.Sprintf(" and %d more", len(places)-shown)
		places = places[:shown]
	}
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = importName(&m.Imports[place])
	}
	return fmt.Errorf("the module asks for functions that are not offered: %s%s; docs/abi.md lists those that are",
		strings.Join(names, ", "), more)
}
