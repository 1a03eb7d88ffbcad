package wasm

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
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
	i.tank.bytes(length, 0)
	declared := i.call.declared
	if declared == nil {
		return notNow
	}
	i.tank.charge(pathFuel)
	if len(declared.fields) == maxPaths {
		i.call.refused = fmt.Errorf("more than %d paths", maxPaths)
		return pathTooMany
	}
	text := string(view[:min(len(view), maxPathBytes+1)])
	if err := declared.declare(text, lazy, i.plugin.may); err != nil {
		i.call.refused = pathError{path: shown(text), err: err}
		return pathRefused
	}
	return int32(len(declared.fields) - 1)
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
		stop(failf(HostError, "a value of %d bytes for a plugin", len(data)))
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
		if handle := uint32(stack[0]); uint64(handle) < uint64(len(c.wants.fields)) {
			c.record.begin()
			c.record.affordable = i.tank.affords()
			c.wants.fields[handle].write(&c.record, &c.query)
			c.record.check()
			c.fetched.field(handle)
			i.tank.beside += c.record.extra
			i.tank.charge(c.record.fuel())
			result = give(memory, stack[1], stack[2], c.record.out)
		}
	}
	stack[0] = api.EncodeI32(result)
}

func (i *instance) json(memory api.Memory, stack []uint64) {
	c, result := &i.call, int32(notNow)
	if c.wants != nil {
		result = noSuchThing
		encoded, extra := c.documents.encoded, c.documents.extra
		if text, ok := c.documents.of(&c.query, uint32(stack[0])); ok {
			i.tank.beside += c.documents.extra - extra
			i.tank.bytes(uint32(len(text)), c.documents.encoded-encoded)
			c.fetched.document(uint32(stack[0]))
			result = give(memory, stack[1], stack[2], text)
		}
	}
	stack[0] = api.EncodeI32(result)
}

func (i *instance) setting(memory api.Memory, stack []uint64) {
	view := guestBytes(memory, uint32(stack[0]), uint32(stack[1]))
	i.tank.bytes(uint32(stack[1]), 0)
	view = view[:min(len(view), maxPathBytes+1)]
	i.tank.beside += int64(len(view)) * pathExtra
	c := &i.call
	c.record.begin()
	c.record.affordable = i.tank.affords()
	// Only the host reads the path, while the guest does not run, so it need not be
	// copied.
	path := unsafe.String(unsafe.SliceData(view), len(view))
	result := int32(noSuchThing)
	ok := i.plugin.settings.lookup(&c.record, &c.steps, path)
	i.tank.beside += c.record.extra
	if ok {
		i.tank.charge(c.record.fuel())
		result = give(memory, stack[2], stack[3], c.record.out)
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
	i.tank.bytes(uint32(stack[1]), int(uint32(stack[1])))
	i.call.output.setPatch(guestBytes(memory, uint32(stack[0]), uint32(stack[1])))
}

// text returns a copy of a text of the guest, and charges the call's output and
// fuel for it.
func (i *instance) text(memory api.Memory, address, length uint64) string {
	i.call.output.charge(uint32(length))
	i.tank.charge(int64(uint32(length)) * textFuel)
	i.tank.beside += int64(unusual(guestBytes(memory, uint32(address), uint32(length)))) * textExtra
	return guestText(memory, uint32(address), uint32(length))
}

func (i *instance) logLine(memory api.Memory, stack []uint64) {
	level := uint32(stack[0])
	view := guestBytes(memory, uint32(stack[1]), uint32(stack[2]))
	i.tank.bytes(uint32(min(len(view), maxLine)), 0)
	if level >= uint32(len(levels)) {
		stop(failf(BadOutput, "a log line of level %d: levels are 0 to %d", level, len(levels)-1))
	}
	i.plugin.log.line(i.call.ctx, i.tenant, levels[level], view[:min(len(view), maxLine)])
}

func (i *instance) logEnabled(_ api.Memory, stack []uint64) {
	level := uint32(stack[0])
	stack[0] = 0
	if level < uint32(len(levels)) && i.plugin.log.enabled[level] {
		stack[0] = 1
	}
}
