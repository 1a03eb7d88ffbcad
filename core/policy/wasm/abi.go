package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Results of path and setting that are no handle and no length.
const (
	pathRefused    = -1
	pathNotNow     = -2
	pathTooMany    = -3
	settingMissing = -1
)

// abiFunctions are those of module wardlet1.
var abiFunctions = map[string]function{
	"path":           {params: []api.ValueType{i32, i32}, results: []api.ValueType{i32}, run: (*Plugin).path},
	"setting":        {params: []api.ValueType{i32, i32, i32, i32}, results: []api.ValueType{i32}, run: (*Plugin).setting},
	"reason":         {params: []api.ValueType{i32, i32, i32, i32}, run: (*Plugin).reason},
	"warn":           {params: []api.ValueType{i32, i32}, run: (*Plugin).warn},
	"annotate":       {params: []api.ValueType{i32, i32, i32, i32}, run: (*Plugin).annotate},
	"explain":        {params: []api.ValueType{i32, i32}, run: (*Plugin).explain},
	"retry_after_ms": {params: []api.ValueType{i64}, run: (*Plugin).retryAfter},
	"log":            {params: []api.ValueType{i32, i32, i32}, run: (*Plugin).logLine},
	"log_enabled":    {params: []api.ValueType{i32}, results: []api.ValueType{i32}, run: (*Plugin).logEnabled},
}

func (p *Plugin) path(memory api.Memory, stack []uint64) {
	result := int32(pathNotNow)
	if declared := p.call.declared; declared != nil {
		result = p.declare(declared, memory, uint32(stack[0]), uint32(stack[1]))
	}
	stack[0] = api.EncodeI32(result)
}

func (p *Plugin) declare(declared *projection, memory api.Memory, address, length uint32) int32 {
	if len(*declared) == maxPaths {
		p.call.refused = fmt.Errorf("more than %d paths", maxPaths)
		return pathTooMany
	}
	view := guestBytes(memory, address, length)
	text := string(view[:min(len(view), maxPathBytes+1)])
	if err := declared.declare(text); err != nil {
		p.call.refused = pathError{path: shown(text), err: err}
		return pathRefused
	}
	return int32(len(*declared) - 1)
}

// pathError says which path was refused, and why.
type pathError struct {
	path string
	err  error
}

func (e pathError) Error() string { return "path " + e.path + ": " + e.err.Error() }

func (e pathError) Unwrap() error { return e.err }

func (p *Plugin) setting(memory api.Memory, stack []uint64) {
	result := int32(settingMissing)
	path := guestBytes(memory, uint32(stack[0]), uint32(stack[1]))
	if value, ok := p.settings.lookup(p.scratch[:0], string(path[:min(len(path), maxPathBytes+1)])); ok {
		p.scratch = value
		result = int32(len(value))
		if capacity := uint32(stack[3]); uint64(len(value)) <= uint64(capacity) {
			copy(guestBytes(memory, uint32(stack[2]), uint32(len(value))), value)
		}
	}
	stack[0] = api.EncodeI32(result)
}

func (p *Plugin) reason(memory api.Memory, stack []uint64) {
	code, message := p.text(memory, stack[0], stack[1]), p.text(memory, stack[2], stack[3])
	p.call.output.setReason(code, message)
}

func (p *Plugin) warn(memory api.Memory, stack []uint64) {
	p.call.output.warn(p.text(memory, stack[0], stack[1]))
}

func (p *Plugin) annotate(memory api.Memory, stack []uint64) {
	key, value := p.text(memory, stack[0], stack[1]), p.text(memory, stack[2], stack[3])
	p.call.output.annotate(key, value)
}

func (p *Plugin) explain(memory api.Memory, stack []uint64) {
	p.call.output.explain(p.text(memory, stack[0], stack[1]))
}

func (p *Plugin) retryAfter(_ api.Memory, stack []uint64) {
	p.call.output.retry(int64(stack[0]))
}

// text is a text that the guest hands over; it counts.
func (p *Plugin) text(memory api.Memory, address, length uint64) string {
	p.call.output.charge(uint32(length))
	return guestText(memory, uint32(address), uint32(length))
}

func (p *Plugin) logLine(memory api.Memory, stack []uint64) {
	level := uint32(stack[0])
	view := guestBytes(memory, uint32(stack[1]), uint32(stack[2]))
	if level >= uint32(len(levels)) {
		stop(failf(BadOutput, "a log line of level %d: levels are 0 to %d", level, len(levels)-1))
	}
	p.log.line(p.call.ctx, levels[level], string(view[:min(len(view), maxLine)]))
}

func (p *Plugin) logEnabled(_ api.Memory, stack []uint64) {
	level := uint32(stack[0])
	stack[0] = 0
	if level < uint32(len(levels)) && p.log.enabled[level] {
		stack[0] = 1
	}
}
