package worst

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

// Full is the size at which a family reaches the caps of package verify.
const Full = 8

// Family is one kind of expensive module.
type Family struct {
	Name string
	// Module returns a module of size parts out of Full.
	Module func(size int) []byte
}

// All returns all families.
func All() []Family {
	return slices.Concat(nested(), flat(), lists())
}

// body returns the locals and the code of one function of a size.
type body func(size int) (locals []byte, code []byte)

// Limits of package verify that the families nearly reach.
const (
	bodyBytes = 64<<10 - 512
	nesting   = 2040
	loops     = 990
	// edges is the number of blocks and branches that a function without locals may have.
	edges = 66_000
)

// ofBody returns a family of modules with one function, whose size grows.
func ofBody(name string, function body) Family {
	return Family{name, func(size int) []byte {
		locals, code := function(size)
		m := w.Plugin()
		m.Admit(w.I32Const(0))
		m.Func(nil, nil, nil, w.Call(0)) // function 2 calls another function: that may be deep
		return withBodies(m, 1, locals, code)
	}}
}

// withBodies returns the module with n additional functions that have this code.
func withBodies(m *w.Module, n int, locals, code []byte) []byte {
	if locals == nil {
		locals = []byte{0}
	}
	out := m.Bytes()
	text := slices.Concat(locals, code, []byte{0x0b})
	text = append(binary.AppendUvarint(nil, uint64(len(text))), text...)
	out = lengthened(out, 3, n, bytes.Repeat([]byte{0}, n)) // type 0 is () -> ()
	return lengthened(out, 10, n, bytes.Repeat(text, n))
}

// lengthened returns a module with n additional entries in an existing section.
func lengthened(module []byte, id byte, n int, entries []byte) []byte {
	out := slices.Clone(module[:8])
	for rest := module[8:]; len(rest) > 0; {
		size, k := binary.Uvarint(rest[1:])
		payload := rest[1+k : 1+k+int(size)]
		if rest[0] == id {
			count, c := binary.Uvarint(payload)
			payload = slices.Concat(binary.AppendUvarint(nil, count+uint64(n)), payload[c:], entries)
		}
		out = appendSection(out, rest[0], payload)
		rest = rest[1+k+int(size):]
	}
	return out
}

func appendSection(out []byte, id byte, payload []byte) []byte {
	return append(binary.AppendUvarint(append(out, id), uint64(len(payload))), payload...)
}

// counted returns the module with a data count section before its code.
func counted(module []byte, n int) []byte {
	out := slices.Clone(module[:8])
	for rest := module[8:]; len(rest) > 0; {
		size, k := binary.Uvarint(rest[1:])
		if rest[0] == 10 {
			out = appendSection(out, 12, binary.AppendUvarint(nil, uint64(n)))
		}
		out, rest = append(out, rest[:1+k+int(size)]...), rest[1+k+int(size):]
	}
	return out
}

// list returns the content of a section with n entries.
func list(n int, entry func(i int) []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(n))
	for i := range n {
		out = append(out, entry(i)...)
	}
	return out
}

func part(of, size int) int { return max(1, of*size/Full) }

var (
	block  = []byte{0x02, 0x40}
	loop   = []byte{0x03, 0x40}
	ifOp   = []byte{0x04, 0x40}
	elseOp = []byte{0x05}
	end    = []byte{0x0b}
	nop    = []byte{0x01}
	zero   = []byte{0x41, 0x00}
	drop   = []byte{0x1a}
	dead   = []byte{0x00}
)

func times(n int, code ...[]byte) []byte { return bytes.Repeat(slices.Concat(code...), n) }

// setLocals returns code that sets n locals, beginning with the local number first.
func setLocals(first, n int) []byte {
	var out []byte
	for i := range n {
		out = append(append(out, zero...), w.LocalSet(uint32(first+i))...)
	}
	return out
}

// i32s declares n locals.
func i32s(n int) []byte { return append(binary.AppendUvarint([]byte{1}, uint64(n)), 0x7f) }

// nested returns families of nested blocks.
func nested() []Family {
	deep := func(name string, open, inner, between []byte, depth int) Family {
		return ofBody(name, func(size int) ([]byte, []byte) {
			n := part(depth, size)
			fill := max(0, bodyBytes*size/Full-n*(len(open)+len(between)+1))
			return nil, slices.Concat(times(n, open), times(fill/len(inner), inner), times(n, between, end))
		})
	}
	return []Family{
		deep("blocks around nops", block, nop, nil, nesting),
		deep("blocks around drops", block, slices.Concat(zero, drop), nil, nesting),
		deep("ifs around nops", slices.Concat(zero, ifOp), nop, nil, nesting),
		deep("ifs with elses around nops", slices.Concat(zero, ifOp), nop, elseOp, nesting),
		deep("blocks around branches out of them", block, []byte{0x41, 0x00, 0x0d, 0x00}, nil, nesting),
		deep("blocks around calls", block, []byte{0x10, 0x02}, nil, nesting),
		deep("loops around nops", loop, nop, nil, loops),
		ofBody("ifs that are not reached, around a loop", func(size int) ([]byte, []byte) {
			n := part(nesting, size)
			group := slices.Concat(block, dead, times(n, zero, ifOp), loop, end, times(n, end), end)
			return nil, times(max(1, bodyBytes*size/Full/len(group)), group)
		}),
		ofBody("ifs in ifs around calls", func(size int) ([]byte, []byte) {
			group := slices.Concat(times(19, zero, ifOp), []byte{0x10, 0x02}, times(19, end))
			return nil, times(bodyBytes*size/Full/len(group), group)
		}),
		ofBody("blocks around variables that are set", func(size int) ([]byte, []byte) {
			n := part(nesting, size)
			group := slices.Concat(times(n, block), setLocals(0, 33), times(n, end))
			return i32s(33), times(max(1, 5000*size/Full/len(group)), group)
		}),
		ofBody("loops around variables that are set", func(size int) ([]byte, []byte) {
			n := part(loops, size)
			return i32s(33), slices.Concat(times(n, loop), setLocals(0, 32), times(n, end))
		}),
		ofBody("loops around variables behind many empty groups", func(size int) ([]byte, []byte) {
			groups := part(24_000, size)
			locals := slices.Concat(binary.AppendUvarint(nil, uint64(groups+1)), bytes.Repeat([]byte{0, 0x7f}, groups), []byte{32, 0x7f})
			return locals, times(part(200, size), loop, setLocals(0, 8), end)
		}),
		ofBody("branches by a table out of many blocks", func(size int) ([]byte, []byte) {
			n := part(nesting, size)
			var table []byte
			for i := range n {
				table = binary.AppendUvarint(table, uint64(i))
			}
			one := slices.Concat(zero, []byte{0x0e}, binary.AppendUvarint(nil, uint64(n-1)), table)
			return nil, slices.Concat(times(n, block), times(max(1, min(edges*size/Full/n-2, (bodyBytes*size/Full-3*n)/len(one))), one), times(n, end))
		}),
	}
}

// flat returns families of one function with many similar instructions.
func flat() []Family {
	many := func(name string, locals []byte, most int, code ...[]byte) Family {
		return ofBody(name, func(size int) ([]byte, []byte) {
			one := slices.Concat(code...)
			return locals, times(part(min(most, bodyBytes/len(one)), size), one)
		})
	}
	return []Family{
		many("nops", nil, edges, nop),
		many("empty blocks", nil, edges/2, block, end),
		many("empty ifs", nil, edges/2, zero, ifOp, end),
		many("empty loops", nil, loops, loop, end),
		many("loops with one variable", i32s(1), loops, loop, zero, []byte{0x21, 0}, end),
		many("calls", nil, edges, []byte{0x10, 0x02}),
		many("returns", nil, edges, []byte{0x0f}),
		many("branches", nil, edges/2, []byte{0x0c, 0x00}),
		many("branches if", nil, edges/2, zero, []byte{0x0d, 0x00}),
		many("branches by a table", nil, 16, zero, []byte{0x0e, 0xff, 0x1f}, make([]byte, 4096)),
		many("stores", nil, edges, zero, zero, []byte{0x36, 0, 0}),
		many("loads", nil, edges, zero, []byte{0x28, 0, 0}, drop),
		many("variables that are set", i32s(40), edges, setLocals(0, 40)),
		many("tees of a variable", i32s(40), edges, zero, bytes.Repeat([]byte{0x22, 33}, 50), drop),
		many("additions of floats", nil, edges, []byte{0x43, 0, 0, 0, 0}, bytes.Repeat([]byte{0x91}, 50), drop),
		many("additions of vectors", nil, edges, []byte{0x41, 0, 0xfd, 0x13}, bytes.Repeat([]byte{0xfd, 0xe3, 0x01}, 50), drop),
		many("divisions", nil, edges, zero, zero, []byte{0x6d}, drop),
		many("selects of a type", nil, edges, zero, zero, zero, []byte{0x1c, 1, 0x7f}, drop),
		many("filled ranges", nil, edges, zero, zero, zero, []byte{0xfc, 11, 0}),
		many("long numbers", nil, edges, []byte{0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, drop),
	}
}

// lists returns families of sections with many entries.
func lists() []Family {
	section := func(name string, change func(size int, m *w.Module)) Family {
		return Family{name, func(size int) []byte {
			m := w.Plugin()
			m.Admit(w.I32Const(0))
			change(size, m)
			return m.Bytes()
		}}
	}
	functions := func(name string, locals, code []byte, most int) Family {
		return Family{name, func(size int) []byte {
			m := w.Plugin()
			m.Admit(w.I32Const(0))
			return withBodies(m, part(most, size), locals, code)
		}}
	}
	return []Family{
		functions("empty functions", nil, nil, 9000),
		functions("functions that call", nil, []byte{0x10, 0}, 9000),
		functions("functions of many blocks", nil, slices.Concat(times(60, block), times(60, end)), 9000),
		functions("functions of many variables", i32s(900), setLocals(899, 1), 280),
		functions("functions of many groups of variables", slices.Concat([]byte{0xe8, 0x07}, bytes.Repeat([]byte{0, 0x7f}, 1000)), nil, 1500),
		functions("functions of loops in loops with variables", i32s(32), slices.Concat(times(30, loop), setLocals(0, 32), times(30, end)), 500),
		{"functions of many results", func(size int) []byte {
			m := w.Plugin()
			m.Admit(w.I32Const(0))
			for range part(4000, size) {
				m.Func(nil, slices.Repeat([]w.Type{w.I32}, 64), nil, w.Call(0), w.Unreachable)
			}
			return m.Bytes()
		}},
		section("types", func(size int, m *w.Module) {
			n := part(4096, size)
			m.Replace(1, list(n, func(i int) []byte {
				if i < 2 {
					return [][]byte{{0x60, 0, 0}, {0x60, 0, 1, 0x7f}}[i]
				}
				return slices.Concat([]byte{0x60, 32}, bytes.Repeat([]byte{0x7f}, 32), []byte{32}, bytes.Repeat([]byte{0x7f}, 32))
			}))
		}),
		section("exports", func(size int, m *w.Module) {
			for i := range part(990, size) {
				m.Export(fmt.Sprint("e", i), 0)
			}
		}),
		section("exports with long names", func(size int, m *w.Module) {
			for i := range part(900, size) {
				m.Export(fmt.Sprint(i, strings.Repeat("é", 2000)), 0)
			}
		}),
		section("exports that look like versions", func(size int, m *w.Module) {
			for i := range part(900, size) {
				m.Export(fmt.Sprint("wardlet_abi_2_", i, strings.Repeat("\u202e", 1000)), 0)
			}
		}),
		section("exports with names of the host", func(size int, m *w.Module) {
			for i := range part(900, size) {
				m.Export(fmt.Sprint("wardlet:", i), 0)
			}
		}),
		section("versions of other types", func(size int, m *w.Module) {
			for i := range part(900, size) {
				m.Export(fmt.Sprint("wardlet_abi_1_", i), 1)
			}
		}),
		section("globals", func(size int, m *w.Module) {
			for range part(990, size) {
				m.Global(w.I64, true, w.I64Const(-1<<62))
			}
		}),
		section("data in order", func(size int, m *w.Module) {
			m.Memory(200)
			dataSection(m, part(1<<16-1, size), func(i int) int { return i })
		}),
		section("data out of order", func(size int, m *w.Module) {
			n := part(1<<16-1, size)
			dataSection(m, n, func(i int) int { return i * 40_503 % (1 << 16) })
		}),
		{"ranges of many segments", func(size int) []byte {
			n := part(9_000, size)
			m := w.Plugin()
			m.Admit(w.I32Const(0))
			var code w.Code
			for i := range n {
				code = append(append(code, 0xfc, 8), binary.AppendUvarint(nil, uint64(i))...)
				code = append(code, 0)
			}
			m.Func(nil, nil, nil, w.Unreachable, code)
			m.Replace(11, list(n, func(int) []byte { return []byte{1, 0} }))
			return counted(m.Bytes(), n)
		}},
		section("elements", func(size int, m *w.Module) {
			m.Replace(4, []byte{1, 0x70, 0, 1})
			n := part(1000, size)
			m.Replace(9, list(n, func(int) []byte { return slices.Concat([]byte{1, 0, 64}, make([]byte, 64)) }))
		}),
		section("elements of expressions", func(size int, m *w.Module) {
			m.Replace(4, []byte{1, 0x70, 0, 1})
			n := part(1000, size)
			m.Replace(9, list(n, func(int) []byte { return slices.Concat([]byte{5, 0x70, 64}, bytes.Repeat([]byte{0xd2, 0, 0x0b}, 64)) }))
		}),
		{"custom sections", func(size int) []byte {
			m := w.Plugin()
			m.Admit(w.I32Const(0))
			return append(m.Bytes(), bytes.Repeat([]byte{0, 1, 0}, part(500_000, size))...)
		}},
		{"imports that are not offered", func(size int) []byte {
			var imports []w.Import
			for i := range part(256, size) {
				imports = append(imports, w.Import{Module: "env", Name: fmt.Sprint(i, strings.Repeat("x", 300))})
			}
			m := w.Plugin(imports...)
			m.Admit(w.I32Const(0))
			return m.Bytes()
		}},
	}
}

// dataSection writes n single bytes into the memory, far enough apart that they are joined across
// the longest gaps.
func dataSection(m *w.Module, n int, place func(i int) int) {
	m.Replace(5, []byte{1, 0, 0x80, 0x02}) // 256 pages
	m.Replace(11, list(n, func(i int) []byte {
		return slices.Concat([]byte{0}, w.I32Const(int32(place(i)*129)), []byte{0x0b, 1, 'x'})
	}))
}
