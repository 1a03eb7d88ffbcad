package verify

import (
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/printable"
)

// state refuses state that a reset does not restore, and tables that need much
// memory.
func (v *verifier) state() {
	for i := range v.m.Imports {
		if in := &v.m.Imports[i]; in.Kind != module.KindFunction {
			v.refuse(module.SectionImport, i, in.Offset, "it imports the %s %q of %q: only functions can be imported", in.Kind, printable.Cut(in.Name, maxShown), printable.Cut(in.Module, maxShown))
		}
	}
	for i := range v.m.Globals {
		if g := &v.m.Globals[i]; g.Mutable && !g.Type.Numeric() {
			v.refuse(module.SectionGlobal, i, g.Offset, "it is mutable and of type %s: it could not be put back after a call", g.Type)
		}
	}
	entries := uint64(0)
	for i := range v.m.Tables {
		t := &v.m.Tables[i]
		if entries += t.Min; entries > uint64(v.caps.Entries) {
			v.refuse(module.SectionTable, i, t.Offset, "tables of %d entries together: at most %d are supported", entries, v.caps.Entries)
			break
		}
	}
	items := 0
	for i := range v.m.Elements {
		e := &v.m.Elements[i]
		if at, ok := e.Address(); ok && uint64(at)+uint64(e.Len()) > v.m.Tables[e.Table].Min {
			v.refuse(module.SectionElement, i, e.Offset, "%d elements at %d: table %d has %d entries", e.Len(), at, e.Table, v.m.Tables[e.Table].Min)
		}
		if items += e.Len(); items > v.caps.Items {
			v.refuse(module.SectionElement, i, e.Offset, "%d elements together: at most %d are supported", items, v.caps.Items)
			break
		}
	}
}

// maxShown is the longest name in a message, in bytes.
const maxShown = 64

// memory refuses data that exceeds the initial memory.
func (v *verifier) memory() {
	size := uint64(0)
	if len(v.m.Memories) > 0 {
		size = v.m.Memories[0].Min << 16
	}
	for i := range v.m.Data {
		d := &v.m.Data[i]
		if address, ok := d.Address(); ok && uint64(address)+uint64(len(d.Content)) > size {
			v.refuse(module.SectionData, i, d.Offset, "%d bytes at %#x: the memory begins with %d", len(d.Content), address, size)
		}
	}
}
