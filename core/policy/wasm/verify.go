package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

const (
	markerPrefix = "wardlet_abi_"
	abiMajor     = "1"
)

// verified reads a module and refuses it if it cannot be run as a plugin, before
// any of it is compiled. The error is a *Failure with the reasons, or the cause of
// ctx.
func verified(ctx context.Context, binary []byte, caps verify.Caps, o *Options) (*module.Module, error) {
	m, err := module.Parse(binary, caps.Counts)
	if err != nil {
		return nil, &abi.Failure{Code: abi.AbiMismatch, Err: err}
	}
	_, ofShape, more := shapeReasons(ctx, m, caps)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if found := slices.Concat(pluginReasons(m, o), ofShape); len(found) > 0 {
		return nil, failureFor(found, more)
	}
	return m, nil
}

// maxShape is the most reasons that verify.Check returns.
const maxShape = 20

// shapeReasons returns all reasons to refuse a module for its shape. more reports
// whether there may be others: a function is read only up to its first fault.
func shapeReasons(ctx context.Context, m *module.Module, caps verify.Caps) (shape verify.Shape, found []reason, more bool) {
	shape, refused := verify.Check(ctx, m, caps)
	for _, fault := range refused {
		found = append(found, reason{abi.AbiMismatch, fault})
	}
	return shape, found, len(refused) >= maxShape || slices.ContainsFunc(refused, ofCode)
}

func ofCode(fault *module.Fault) bool {
	s := module.Section{ID: module.SectionCode}
	return fault.Section == s.Name()
}

// reason is a reason to refuse a module, with its place.
type reason struct {
	code  abi.FailureCode
	fault *module.Fault
}

// String returns the code, the place and what is wrong.
func (r reason) String() string { return string(r.code) + ": " + r.fault.Error() }

// reasonAt returns a reason with its place in a section.
func reasonAt(code abi.FailureCode, section byte, index, offset int, format string, args ...any) reason {
	s := module.Section{ID: section}
	return reason{code, &module.Fault{Section: s.Name(), Index: index, Offset: offset, What: fmt.Sprintf(format, args...)}}
}

// reasonOf returns a reason about a section as a whole, or about the module if it
// lacks the section.
func reasonOf(m *module.Module, section byte, format string, args ...any) reason {
	at := slices.IndexFunc(m.Sections, func(s module.Section) bool { return s.ID == section })
	if at < 0 {
		return reason{abi.AbiMismatch, &module.Fault{Index: -1, Offset: m.Size, What: fmt.Sprintf(format, args...)}}
	}
	return reasonAt(abi.AbiMismatch, section, -1, m.Sections[at].Offset, format, args...)
}

// These bound the reasons in one error. The error is one line that ends with the
// number of other reasons, and must be short enough to be shown with that number.
const (
	maxTold      = 10
	maxToldBytes = 1500
)

// failureFor returns a failure with these reasons and the code of the first. more
// reports whether there may be others.
func failureFor(reasons []reason, more bool) *abi.Failure {
	told := safetext.Cut(reasons[0].fault.Error(), maxToldBytes)
	n := 1
	for ; n < min(len(reasons), maxTold); n++ {
		next := "; also " + reasons[n].String()
		if len(told)+len(next) > maxToldBytes {
			break
		}
		told += next
	}
	if left := len(reasons) - n; left > 0 {
		orMore := ""
		if more {
			orMore = " or more"
		}
		told += fmt.Sprintf("; and %d%s others, which `wardlet policy inspect` shows", left, orMore)
	}
	return &abi.Failure{Code: reasons[0].code, Err: errors.New(told)}
}

// pluginReasons returns all reasons why a module is not a plugin of this ABI.
func pluginReasons(m *module.Module, o *Options) []reason {
	return slices.Concat(abiReasons(m), hookReasons(m, o.Hooks), nameReasons(m), importReasons(m), typeReasons(m), memoryReasons(m, o.MemoryPages))
}

// reservedPrefix is the prefix of the names that metering adds to a module.
const reservedPrefix = "wardlet:"

// nameReasons returns a reason for each export that the host could confuse with its
// own.
func nameReasons(m *module.Module) (found []reason) {
	for i := range m.Exports {
		if e := &m.Exports[i]; strings.HasPrefix(e.Name, reservedPrefix) {
			found = append(found, reasonAt(abi.AbiMismatch, module.SectionExport, i, e.Offset,
				"the module exports %q: names that begin with %q are the host's", safetext.Cut(e.Name, safetext.MaxShown), reservedPrefix))
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
		return []reason{reasonAt(abi.MemoryLimit, module.SectionMemory, int(memory.Index), begin.Offset,
			"the module begins with %d pages of memory, the policy allows %d: raise memory_pages of its [limits]", begin.Min, pages)}
	}
	return nil
}

// markers returns the exports that name a version of the ABI, and whether the host
// supports one of these versions.
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
		"the module is made for %s: only wardlet_abi_1 is supported in this version", safetext.Shown(strings.Join(names, ", ")))}
}

func hookReasons(m *module.Module, wanted []string) []reason {
	var found []reason
	for _, hook := range wanted {
		name, ok := abi.Exports[hook]
		if !ok {
			found = append(found, reasonOf(m, module.SectionExport, "the hook %q is not supported in this version", hook))
		} else if e := m.Export(name); e == nil || e.Kind != module.KindFunction {
			found = append(found, reasonOf(m, module.SectionExport,
				"the policy names the hook %q, but the module exports no function %s", hook, name))
		}
	}
	return found
}

// importReasons returns a reason for each imported function that the host does not
// offer. Imports that are not functions are refused for the module's shape.
func importReasons(m *module.Module) (found []reason) {
	for i := range m.Imports {
		in := &m.Imports[i]
		if _, ok := offered(in.Module, in.Name); !ok && in.Kind == module.KindFunction {
			found = append(found, reasonAt(abi.HostDenied, module.SectionImport, i, in.Offset,
				"the module asks for %q of %q, which is not offered; docs/abi.md lists what is",
				safetext.Cut(in.Name, safetext.MaxShown), safetext.Cut(in.Module, safetext.MaxShown)))
		}
	}
	return found
}

// called are the exports that the host calls, with their result types.
var called = map[string][]api.ValueType{
	"_initialize":               nil,
	"wardlet_validate_settings": {i32},
	"wardlet_init":              {i32},
	"wardlet_input":             {i32},
	"wardlet_admit":             {i32},
	"wardlet_merge":             {i32},
	"wardlet_filter":            {i32},
	"wardlet_connect":           {i32},
}

// typeReasons returns a reason for each function whose type is not that of the ABI.
// Imports that the host does not offer are ignored.
func typeReasons(m *module.Module) []reason {
	var found []reason
	functions := uint32(0)
	for i := range m.Imports {
		in := &m.Imports[i]
		if in.Kind != module.KindFunction {
			continue
		}
		if want, ok := offered(in.Module, in.Name); ok {
			if wrong := wrongType(m, "imports "+in.Name+" of "+in.Module, functions, want.params, want.results); wrong != "" {
				found = append(found, reasonAt(abi.AbiMismatch, module.SectionImport, i, in.Offset, "%s", wrong))
			}
		}
		functions++
	}
	for i := range m.Exports {
		e := &m.Exports[i]
		results, ok := called[e.Name]
		if !ok && !strings.HasPrefix(e.Name, markerPrefix+abiMajor+"_") {
			continue
		}
		wrong := "the module exports " + safetext.Shown(e.Name) + ", but not as a function"
		if e.Kind == module.KindFunction {
			wrong = wrongType(m, "exports "+safetext.Shown(e.Name), e.Index, nil, results)
		}
		if wrong != "" {
			found = append(found, reasonAt(abi.AbiMismatch, module.SectionExport, i, e.Offset, "%s", wrong))
		}
	}
	return found
}

// wrongType returns what is wrong with a function's type, empty if it is right.
func wrongType(m *module.Module, what string, function uint32, params, results []api.ValueType) string {
	t := m.Type(function)
	same := func(have []module.ValueType, want []api.ValueType) bool {
		return slices.EqualFunc(have, want, func(a module.ValueType, b api.ValueType) bool { return byte(a) == b })
	}
	if same(t.Params, params) && same(t.Results, results) {
		return ""
	}
	return fmt.Sprintf("the module %s as %s: its type must be %s", what, typeName(t.Params, t.Results), typeName(params, results))
}

// maxNamed is how many parameters or results of a type are listed by name.
const maxNamed = 16

func typeName[T ~byte](params, results []T) string {
	list := func(types []T) string {
		names := make([]string, 0, maxNamed+1)
		for _, t := range types[:min(len(types), maxNamed)] {
			names = append(names, module.ValueType(t).String())
		}
		if more := len(types) - maxNamed; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(params) + " -> " + list(results)
}
