package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// Report is what is found in a module without compiling or running it. Names
// are cut to 500 bytes, and control characters in them are escaped.
type Report struct {
	// Size is the module's length in bytes, SHA256 its digest in hex.
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
	// Contents are nil where the sections cannot be read.
	Contents *Contents `json:"contents,omitempty"`
	// Refused are the reasons why the module would not be loaded for a policy
	// with default limits and without hooks, at most 100. Without any it would
	// be compiled; only the compiler finds instructions whose types do not fit.
	Refused []Refusal `json:"refused"`
	// MoreRefused says that there are or may be more reasons: sections that
	// cannot be read end the search, and a function is read up to the first
	// reason for it.
	MoreRefused bool `json:"moreRefused,omitempty"`
}

// Refusal is a reason to refuse a module.
type Refusal struct {
	// Code is what loading the module would fail with.
	Code FailureCode `json:"code"`
	// Section is where the reason lies, empty for the module as a whole; Index
	// which element of it, nil for the section itself; Offset the place in the
	// module in bytes.
	Section string `json:"section,omitempty"`
	Index   *int   `json:"index,omitempty"`
	Offset  int    `json:"offset"`
	// Message is what is wrong and what to do about it.
	Message string `json:"message"`
}

// Error is the code, the place and what is wrong.
func (r *Refusal) Error() string {
	fault := module.Fault{Section: r.Section, Index: -1, Offset: r.Offset, What: r.Message}
	if r.Index != nil {
		fault.Index = *r.Index
	}
	return reason{r.Code, &fault}.String()
}

// Contents is what a module consists of. Where code is refused, the figures of
// functions are those of what was read of it.
type Contents struct {
	// Markers are the exports that name versions of the ABI, the first 10.
	Markers []string `json:"markers"`
	// Hooks are those the module has, by the names policies use.
	Hooks   []string   `json:"hooks"`
	Imports []Imported `json:"imports"`
	// Exports are those the host uses, without the markers; OtherExports
	// counts the rest.
	Exports      []Exported `json:"exports"`
	OtherExports int        `json:"otherExports"`
	// Memory is nil where the module defines none.
	Memory *MemorySize `json:"memory,omitempty"`
	// TableEntries are how many entries the tables have at the beginning.
	Tables       int    `json:"tables"`
	TableEntries uint64 `json:"tableEntries"`
	// Elements are those of all segments together.
	ElementSegments int `json:"elementSegments"`
	Elements        int `json:"elements"`
	DataSegments    int `json:"dataSegments"`
	DataBytes       int `json:"dataBytes"`
	Globals         int `json:"globals"`
	MutableGlobals  int `json:"mutableGlobals"`
	// Functions are those that are not imported, Loops all loops in them.
	Functions int `json:"functions"`
	Loops     int `json:"loops"`
	// The next are the most of any function: blocks in each other, parameters
	// with local variables, operands on the stack, bytes.
	DeepestNesting  int `json:"deepestNesting"`
	MostLocals      int `json:"mostLocals"`
	HighestStack    int `json:"highestStack"`
	LargestFunction int `json:"largestFunction"`
	// Floats and Vectors say that the code has such instructions.
	Floats  bool `json:"floats"`
	Vectors bool `json:"vectors"`
	// CodeBytes is the length of the code, MeteredBytes that with what counts
	// its fuel, 0 where the module is not metered because it is refused.
	CodeBytes    int `json:"codeBytes"`
	MeteredBytes int `json:"meteredBytes,omitempty"`
}

// Imported is something that a module needs.
type Imported struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	// Type is a function's, as "(i32) -> ()".
	Type string `json:"type,omitempty"`
}

// Exported is something that a module exports.
type Exported struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type,omitempty"`
}

// MemorySize is how large a memory is, in pages of 64 KiB.
type MemorySize struct {
	Pages uint64 `json:"pages"`
	// MostPages is nil where the module sets no bound of its own; the policy
	// always sets one.
	MostPages *uint64 `json:"mostPages,omitempty"`
}

const (
	maxMarkers = 10
	maxReasons = 100
	// defaultMemoryPages is memory_pages of a policy that does not say.
	defaultMemoryPages = 64
)

// MaxModuleBytes is the length of the longest module that is not refused for
// its length.
func MaxModuleBytes() int { return verify.Default().Module }

// Inspect looks at a module as Load of an engine with these options does before
// it compiles one, but collects every reason to refuse it. binary is not kept.
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

func (r *Report) refuse(code FailureCode, fault *module.Fault) {
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

// refuseBy refuses a module that cannot be read on: behind its first eight
// bytes there may be more.
func (r *Report) refuseBy(err error) {
	fault, ok := errors.AsType[*module.Fault](err)
	if !ok {
		fault = &module.Fault{Index: -1, What: err.Error()}
	}
	r.refuse(AbiMismatch, fault)
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

// outside is what a module needs and returns.
func (c *Contents) outside(m *module.Module) {
	for i := range m.Imports {
		in := &m.Imports[i]
		imported := Imported{Module: shown(in.Module), Name: shown(in.Name), Kind: in.Kind.String()}
		if in.Kind == module.KindFunction {
			t := &m.Types[in.Type]
			imported.Type = typeName(t.Params, t.Results)
		}
		c.Imports = append(c.Imports, imported)
	}
	found, _ := markers(m)
	for _, e := range found[:min(len(found), maxMarkers)] {
		c.Markers = append(c.Markers, shown(e.Name))
	}
	for _, hook := range []Hook{HookAdmit, HookMerge, HookFilter, HookConnect} {
		if e := m.Export(hooks[string(hook)]); e != nil && e.Kind == module.KindFunction {
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
