package wasm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// These are the results of functions that return a handle or a length when there is
// none to return.
const (
	pathRefused = -1
	pathTooMany = -3
	noSuchThing = -1
	notNow      = -2
)

// abiFunctions are the functions of module wardlet1.
var abiFunctions = map[string]function{
	"path":           {params: []api.ValueType{i32, i32}, results: []api.ValueType{i32}, run: (*instance).path},
	"field":          {params: []api.ValueType{i32, i32}, results: []api.ValueType{i32}, run: (*instance).field},
	"get":            {params: []api.ValueType{i32, i32, i32}, results: []api.ValueType{i32}, run: (*instance).get},
	"json":           {params: []api.ValueType{i32, i32, i32}, results: []api.ValueType{i32}, run: (*instance).json},
	"setting":        {params: []api.ValueType{i32, i32, i32, i32}, results: []api.ValueType{i32}, run: (*instance).setting},
	"reason":         {params: []api.ValueType{i32, i32, i32, i32}, run: (*instance).reason},
	"warn":           {params: []api.ValueType{i32, i32}, run: (*instance).warn},
	"annotate":       {params: []api.ValueType{i32, i32, i32, i32}, run: (*instance).annotate},
	"explain":        {params: []api.ValueType{i32, i32}, run: (*instance).explain},
	"retry_after_ms": {params: []api.ValueType{i64}, run: (*instance).retryAfter},
	"patch":          {params: []api.ValueType{i32, i32}, run: (*instance).patch},
	"log":            {params: []api.ValueType{i32, i32, i32}, run: (*instance).logLine},
	"log_enabled":    {params: []api.ValueType{i32}, results: []api.ValueType{i32}, run: (*instance).logEnabled},
}

func (i *instance) path(memory api.Memory, stack []uint64) {
	stack[0] = api.EncodeI32(i.declare(memory, uint32(stack[0]), uint32(stack[1]), false))
}

func (i *instance) field(memory api.Memory, stack []uint64) {
	stack[0] = api.EncodeI32(i.declare(memory, uint32(stack[0]), uint32(stack[1]), true))
}

func (i *instance) declare(memory api.Memory, address, length uint32, lazy bool) int32 {
	view := guestBytes(memory, address, length)
	i.budget.bytes(length, 0)
	declared := i.call.declared
	if declared == nil {
		return notNow
	}
	i.budget.charge(pathFuel)
	if declared.Len() == abi.MaxPaths {
		i.call.refused = fmt.Errorf("more than %d paths", abi.MaxPaths)
		return pathTooMany
	}
	text := string(view[:min(len(view), abi.MaxPathBytes+1)])
	if err := declared.Declare(text, lazy, i.plugin.may); err != nil {
		i.call.refused = pathError{path: safetext.Shown(text), err: err}
		return pathRefused
	}
	return int32(declared.Len() - 1)
}

// pathError is the error for a declared path that was refused: the path and the
// reason.
type pathError struct {
	path string
	err  error
}

func (e pathError) Error() string { return "path " + e.path + ": " + e.err.Error() }

func (e pathError) Unwrap() error { return e.err }

// give writes data to the guest's buffer if the buffer is large enough, and returns
// the length of data.
func give(memory api.Memory, address, capacity uint64, data []byte) int32 {
	if len(data) > math.MaxInt32 {
		abi.Stop(abi.Failf(abi.HostError, "a value of %d bytes for a plugin", len(data)))
	}
	if uint32(len(data)) <= uint32(capacity) {
		copy(guestBytes(memory, uint32(address), uint32(len(data))), data)
	}
	return int32(len(data))
}

func (i *instance) get(memory api.Memory, stack []uint64) {
	c, result := &i.call, int32(notNow)
	if c.wants != nil {
		result = noSuchThing
		if handle := uint32(stack[0]); c.wants.WriteField(&c.record, &c.query, handle, i.budget.affords()) {
			c.record.Check()
			c.fetched.Field(handle)
			i.budget.beside += c.record.Extra
			i.budget.charge(c.record.Fuel())
			result = give(memory, stack[1], stack[2], c.record.Out)
		}
	}
	stack[0] = api.EncodeI32(result)
}

func (i *instance) json(memory api.Memory, stack []uint64) {
	c, result := &i.call, int32(notNow)
	if c.wants != nil {
		result = noSuchThing
		encoded, extra := c.documents.Encoded, c.documents.Extra
		if text, ok := c.documents.Of(&c.query, uint32(stack[0])); ok {
			i.budget.beside += c.documents.Extra - extra
			i.budget.bytes(uint32(len(text)), c.documents.Encoded-encoded)
			c.fetched.Document(uint32(stack[0]))
			result = give(memory, stack[1], stack[2], text)
		}
	}
	stack[0] = api.EncodeI32(result)
}

func (i *instance) setting(memory api.Memory, stack []uint64) {
	view := guestBytes(memory, uint32(stack[0]), uint32(stack[1]))
	i.budget.bytes(uint32(stack[1]), 0)
	view = view[:min(len(view), abi.MaxPathBytes+1)]
	i.budget.beside += int64(len(view)) * pathExtra
	c := &i.call
	// Only the host reads the path, while the guest does not run, so it need not be
	// copied.
	path := unsafe.String(unsafe.SliceData(view), len(view))
	result := int32(noSuchThing)
	ok := i.plugin.settings.Lookup(&c.record, &c.steps, path, i.budget.affords())
	i.budget.beside += c.record.Extra
	if ok {
		i.budget.charge(c.record.Fuel())
		result = give(memory, stack[2], stack[3], c.record.Out)
	}
	stack[0] = api.EncodeI32(result)
}

func (i *instance) reason(memory api.Memory, stack []uint64) {
	code, message := i.text(memory, stack[0], stack[1]), i.text(memory, stack[2], stack[3])
	i.call.output.setReason(code, message)
}

func (i *instance) warn(memory api.Memory, stack []uint64) {
	i.call.output.warn(i.text(memory, stack[0], stack[1]))
}

func (i *instance) annotate(memory api.Memory, stack []uint64) {
	key, value := i.text(memory, stack[0], stack[1]), i.text(memory, stack[2], stack[3])
	i.call.output.annotate(key, value)
}

func (i *instance) explain(memory api.Memory, stack []uint64) {
	i.call.output.explain(i.text(memory, stack[0], stack[1]))
}

func (i *instance) retryAfter(_ api.Memory, stack []uint64) {
	i.call.output.retry(int64(stack[0]))
}

func (i *instance) patch(memory api.Memory, stack []uint64) {
	i.call.output.charge(uint32(stack[1]))
	i.budget.bytes(uint32(stack[1]), int(uint32(stack[1])))
	i.call.output.setPatch(guestBytes(memory, uint32(stack[0]), uint32(stack[1])))
}

// text returns a copy of a text of the guest, and charges the call's output and
// fuel for it.
func (i *instance) text(memory api.Memory, address, length uint64) string {
	i.call.output.charge(uint32(length))
	i.budget.charge(int64(uint32(length)) * textFuel)
	i.budget.beside += int64(safetext.Unusual(guestBytes(memory, uint32(address), uint32(length)))) * textExtra
	return guestText(memory, uint32(address), uint32(length))
}

func (i *instance) logLine(memory api.Memory, stack []uint64) {
	level := uint32(stack[0])
	view := guestBytes(memory, uint32(stack[1]), uint32(stack[2]))
	i.budget.bytes(uint32(min(len(view), pluginlog.MaxLine)), 0)
	if level >= uint32(len(pluginlog.Levels)) {
		abi.Stop(abi.Failf(abi.BadOutput, "a log line of level %d: levels are 0 to %d", level, len(pluginlog.Levels)-1))
	}
	i.plugin.log.Line(i.call.ctx, i.tenant, pluginlog.Levels[level], view[:min(len(view), pluginlog.MaxLine)])
}

func (i *instance) logEnabled(_ api.Memory, stack []uint64) {
	level := uint32(stack[0])
	stack[0] = 0
	if level < uint32(len(pluginlog.Levels)) && i.plugin.log.Enabled[level] {
		stack[0] = 1
	}
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64

	abiModule  = "wardlet1"
	wasiModule = "wasi_snapshot_preview1"
)

// function is a function that guests can import. run finds the parameters in stack
// and leaves the result there.
type function struct {
	params, results []api.ValueType
	run             func(i *instance, memory api.Memory, stack []uint64)
}

// offered returns the function of the host with this name, if there is one.
func offered(module, name string) (f function, ok bool) {
	switch module {
	case abiModule:
		f, ok = abiFunctions[name]
	case wasiModule:
		f, ok = wasiFunctions[name]
	}
	return f, ok
}

// offer adds the functions of the host to a runtime. Each works on the instance
// that calls it.
func offer(ctx context.Context, runtime wazero.Runtime) error {
	for module, functions := range map[string]map[string]function{abiModule: abiFunctions, wasiModule: wasiFunctions} {
		builder := runtime.NewHostModuleBuilder(module)
		for name, f := range functions {
			call := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
				i := callerOf(ctx)
				i.budget.stay.end()
				i.budget.charge(hostFuel)
				f.run(i, i.memory, stack)
				i.budget.stay.begin()
			})
			builder.NewFunctionBuilder().WithGoModuleFunction(call, f.params, f.results).Export(name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return fmt.Errorf("offer the functions of %s: %w", module, err)
		}
	}
	yield := api.GoModuleFunc(func(ctx context.Context, _ api.Module, _ []uint64) {
		b := &callerOf(ctx).budget
		b.stay.end()
		b.yield()
		b.stay.begin()
	})
	_, err := runtime.NewHostModuleBuilder(meter.Module).
		NewFunctionBuilder().WithGoModuleFunction(yield, nil, nil).Export(meter.Yield).Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("offer the functions of %s: %w", meter.Module, err)
	}
	return nil
}

// guestContext is the context of all calls of one instance. Host functions find the
// instance in it.
type guestContext struct {
	context.Context // context.Background, as made for one instance

	instance *instance
}

// callerOf returns the instance that calls a function of the host.
func callerOf(ctx context.Context) *instance {
	return ctx.(*guestContext).instance // wazero passes the context of the call on
}

// guestBytes returns a view of the guest's memory, which is valid until the guest
// runs again. A range outside of the memory stops the call.
func guestBytes(memory api.Memory, address, length uint32) []byte {
	view, ok := memory.Read(address, length)
	if !ok {
		abi.Stop(abi.Failf(abi.BadOutput, "the plugin names %d bytes at %#x, its memory has %d", length, address, memory.Size()))
	}
	return view
}

// guestText returns a copy of a string of the guest, with invalid UTF-8 replaced.
func guestText(memory api.Memory, address, length uint32) string {
	s := string(guestBytes(memory, address, length))
	if utf8.ValidString(s) { // nearly always, and checked in a fraction of the time
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
