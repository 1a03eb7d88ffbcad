package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// Report is what Inspect finds in a module without compiling or running it. Names
// are cut to 500 bytes, and control characters in them are escaped.
type Report struct {
	// Size is the module's length in bytes. SHA256 is its digest in hex.
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
	// Contents is nil if the sections cannot be read.
	Contents *Contents `json:"contents,omitempty"`
	// Refused are the reasons why the module would not be loaded for a policy with
	// default limits and without hooks, at most 100. A module without any would be
	// compiled; but only the compiler finds instructions whose types do not match.
	Refused []Refusal `json:"refused"`
	// MoreRefused reports whether there may be more reasons. The search ends at a
	// section that cannot be read, and a function is read only up to its first
	// fault.
	MoreRefused bool `json:"moreRefused,omitempty"`
}

// Refusal is a reason to refuse a module.
type Refusal struct {
	// Code is the failure code with which loading the module would fail.
	Code abi.FailureCode `json:"code"`
	// Section is the section in which the reason lies, empty for the module as a
	// whole. Index is the element of the section, nil for the section itself.
	// Offset is the offset in the module, in bytes.
	Section string `json:"section,omitempty"`
	Index   *int   `json:"index,omitempty"`
	Offset  int    `json:"offset"`
	// Message says what is wrong and how to fix it.
	Message string `json:"message"`
}

// Error returns the code, the place and what is wrong.
func (r *Refusal) Error() string {
	fault := module.Fault{Section: r.Section, Index: -1, Offset: r.Offset, What: r.Message}
	if r.Index != nil {
		fault.Index = *r.Index
	}
	return reason{r.Code, &fault}.String()
}

// Contents describes the parts of a module. If code is refused, the figures of
// functions cover only what was read.
type Contents struct {
	// Markers are the exports that name versions of the ABI, at most the first 10.
	Markers []string `json:"markers"`
	// Hooks are the hooks that the module has, by the names that policies use.
	Hooks   []string   `json:"hooks"`
	Imports []Imported `json:"imports"`
	// Exports are the exports that the host uses, without the markers. OtherExports
	// is the number of all others.
	Exports      []Exported `json:"exports"`
	OtherExports int        `json:"otherExports"`
	// Memory is nil if the module defines none.
	Memory *MemorySize `json:"memory,omitempty"`
	// TableEntries is the initial number of entries of all tables.
	Tables       int    `json:"tables"`
	TableEntries uint64 `json:"tableEntries"`
	// Elements is the number of elements of all segments together.
	ElementSegments int `json:"elementSegments"`
	Elements        int `json:"elements"`
	DataSegments    int `json:"dataSegments"`
	DataBytes       int `json:"dataBytes"`
	Globals         int `json:"globals"`
	MutableGlobals  int `json:"mutableGlobals"`
	// Functions is the number of functions that are not imported. Loops is the
	// number of loops in them.
	Functions int `json:"functions"`
	Loops     int `json:"loops"`
	// The next fields are maxima over all functions: nested blocks, parameters and
	// local variables, operands on the stack, bytes.
	DeepestNesting  int `json:"deepestNesting"`
	MostLocals      int `json:"mostLocals"`
	HighestStack    int `json:"highestStack"`
	LargestFunction int `json:"largestFunction"`
	// Floats and Vectors report whether the code has such instructions.
	Floats  bool `json:"floats"`
	Vectors bool `json:"vectors"`
	// CodeBytes is the length of the code. MeteredBytes is its length with the
	// instructions that count fuel, 0 if the module is not metered because it is
	// refused.
	CodeBytes    int `json:"codeBytes"`
	MeteredBytes int `json:"meteredBytes,omitempty"`
}

// Imported is an import of a module.
type Imported struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	// Type is the type of a function, such as "(i32) -> ()".
	Type string `json:"type,omitempty"`
}

// Exported is an export of a module.
type Exported struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type,omitempty"`
}

// MemorySize is the size of a memory, in pages of 64 KiB.
type MemorySize struct {
	Pages uint64 `json:"pages"`
	// MostPages is nil if the module sets no bound of its own. The policy always
	// sets one.
	MostPages *uint64 `json:"mostPages,omitempty"`
}

const (
	maxMarkers = 10
	maxReasons = 100
	// defaultMemoryPages is the memory_pages of a policy that does not set it.
	defaultMemoryPages = 64
)

// MaxModuleBytes returns the largest length of a module that is not refused for its
// length.
func MaxModuleBytes() int { return verify.Default().Module }

// Inspect checks a module as Load of an engine with these options does before it
// compiles a module, but collects every reason to refuse it. binary is not kept.
func Inspect(binary []byte, options ...EngineOption) *Report {
	sum := sha256.Sum256(binary)
	r := &Report{Size: len(binary), SHA256: hex.EncodeToString(sum[:]), Refused: []Refusal{}}
	o := engineOptions{caps: verify.Default()}
	for _, option := range options {
		option(&o)
	}
	caps := o.caps
	m, err := module.Parse(binary, caps.Counts)
	if err != nil {
		r.refuseBy(err)
		return r
	}
	shape, ofShape, more := shapeReasons(context.Background(), m, caps)
	for _, found := range slices.Concat(pluginReasons(m, &Options{MemoryPages: defaultMemoryPages}), ofShape) {
		r.refuse(found.code, found.fault)
	}
	r.MoreRefused = r.MoreRefused || more
	r.Contents = contents(m, &shape)
	if len(ofShape) > 0 {
		return r
	}
	metered, err := meter.Rewrite(context.Background(), m, caps.Metered)
	if err != nil {
		r.refuseBy(err)
		return r
	}
	r.Contents.MeteredBytes = metered.CodeBytes
	return r
}

func (r *Report) refuse(code abi.FailureCode, fault *module.Fault) {
	if len(r.Refused) == maxReasons {
		r.MoreRefused = true
		return
	}
	refusal := Refusal{Code: code, Section: fault.Section, Offset: fault.Offset, Message: fault.What}
	if fault.Index >= 0 {
		refusal.Index = &fault.Index
	}
	r.Refused = append(r.Refused, refusal)
}

// refuseBy refuses a module for an error that ends the search. If the error is not
// in the first eight bytes, there may be more reasons.
func (r *Report) refuseBy(err error) {
	fault, ok := errors.AsType[*module.Fault](err)
	if !ok {
		fault = &module.Fault{Index: -1, What: err.Error()}
	}
	r.refuse(abi.AbiMismatch, fault)
	r.MoreRefused = r.MoreRefused || fault.Offset >= 8
}

func contents(m *module.Module, shape *verify.Shape) *Contents {
	c := &Contents{
		Markers: []string{}, Hooks: []string{}, Imports: []Imported{}, Exports: []Exported{},
		Tables: len(m.Tables), ElementSegments: len(m.Elements), DataSegments: len(m.Data), Globals: len(m.Globals),
		Functions: len(m.Bodies), Loops: shape.Loops,
		DeepestNesting: shape.DeepestNesting, MostLocals: shape.MostLocals,
		HighestStack: shape.HighestStack, LargestFunction: shape.LargestBody,
		Floats: shape.Floats, Vectors: shape.Vectors, CodeBytes: shape.CodeBytes,
	}
	c.outside(m)
	if len(m.Memories) > m.ImportedMemories {
		memory := &m.Memories[m.ImportedMemories]
		c.Memory = &MemorySize{Pages: memory.Min}
		if memory.Bounded {
			c.Memory.MostPages = &memory.Max
		}
	}
	for i := range m.Tables {
		c.TableEntries += m.Tables[i].Min
	}
	for i := range m.Elements {
		c.Elements += m.Elements[i].Len()
	}
	for i := range m.Data {
		c.DataBytes += len(m.Data[i].Content)
	}
	for i := range m.Globals {
		if m.Globals[i].Mutable {
			c.MutableGlobals++
		}
	}
	return c
}

// outside adds the imports and exports of a module, and the hooks and markers among
// the exports.
func (c *Contents) outside(m *module.Module) {
	for i := range m.Imports {
		in := &m.Imports[i]
		imported := Imported{Module: safetext.Shown(in.Module), Name: safetext.Shown(in.Name), Kind: in.Kind.String()}
		if in.Kind == module.KindFunction {
			t := &m.Types[in.Type]
			imported.Type = typeName(t.Params, t.Results)
		}
		c.Imports = append(c.Imports, imported)
	}
	found, _ := markers(m)
	for _, e := range found[:min(len(found), maxMarkers)] {
		c.Markers = append(c.Markers, safetext.Shown(e.Name))
	}
	for _, hook := range []abi.Hook{abi.HookAdmit, abi.HookMerge, abi.HookFilter, abi.HookConnect} {
		if e := m.Export(abi.Exports[string(hook)]); e != nil && e.Kind == module.KindFunction {
			c.Hooks = append(c.Hooks, string(hook))
		}
	}
	used := map[string]bool{}
	for i := range m.Exports {
		e := &m.Exports[i]
		_, calls := called[e.Name]
		if used[e.Name] || !calls && e.Name != "memory" {
			continue
		}
		used[e.Name] = true
		exported := Exported{Name: e.Name, Kind: e.Kind.String()}
		if e.Kind == module.KindFunction {
			t := m.Type(e.Index)
			exported.Type = typeName(t.Params, t.Results)
		}
		c.Exports = append(c.Exports, exported)
	}
	c.OtherExports = len(m.Exports) - len(found) - len(c.Exports)
}
