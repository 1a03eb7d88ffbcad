package bare

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// function is one function of the ABI.
type function struct {
	params, results []api.ValueType
	run             func(g *Guest, stack []uint64)
}

func signature(params, results int, run func(g *Guest, stack []uint64)) function {
	i32 := []api.ValueType{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}
	return function{i32[:params], i32[:results], run}
}

// functions are the functions that the guests import. None of them has settings, and what they
// report about a pod is not kept.
var functions = map[string]function{
	"path":           signature(2, 1, func(g *Guest, stack []uint64) { g.declare(stack, true) }),
	"field":          signature(2, 1, func(g *Guest, stack []uint64) { g.declare(stack, false) }),
	"get":            signature(3, 1, (*Guest).get),
	"json":           signature(3, 1, (*Guest).json),
	"reason":         signature(4, 0, func(g *Guest, _ []uint64) { g.tank.charge(0) }),
	"retry_after_ms": {[]api.ValueType{api.ValueTypeI64}, nil, func(g *Guest, _ []uint64) { g.tank.charge(0) }},
}

// stop terminates a call.
func stop(format string, args ...any) {
	panic(fmt.Errorf(format, args...)) // a panic terminates the call
}

func (g *Guest) declare(stack []uint64, recorded bool) {
	path, ok := g.memory.Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stop("a path outside of the memory")
	}
	content, ok := g.pod.fields[string(path)]
	if !ok {
		stop("path %s is none of those that the bench has", path)
	}
	g.declared = append(g.declared, declared{content, recorded})
	stack[0] = uint64(len(g.declared) - 1)
}

func (g *Guest) get(stack []uint64) {
	handle := uint32(stack[0])
	if int(handle) >= len(g.declared) {
		stop("handle %d was never given", handle)
	}
	g.hand(stack, g.declared[handle].value)
}

func (g *Guest) json(stack []uint64) {
	const object = 1
	if uint32(stack[0]) != object {
		stop("document %d is wanted", uint32(stack[0]))
	}
	g.hand(stack, g.pod.document)
}

// hand writes content into the memory that the guest names.
func (g *Guest) hand(stack []uint64, content []byte) {
	g.tank.charge(len(content))
	if len(content) <= int(uint32(stack[2])) && !g.memory.Write(uint32(stack[1]), content) {
		stop("a buffer outside of the memory")
	}
	stack[0] = uint64(len(content))
}
