package wasm

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// errno is a result code of WASI.
type errno uint16

const (
	errnoSuccess     errno = 0
	errnoBadFile     errno = 8
	errnoFault       errno = 21
	errnoInvalid     errno = 28
	errnoUnsupported errno = 52
)

// wasiFunctions are the functions of WASI that language runtimes need to start.
// There are no arguments, no environment and no files. Descriptors 0, 1 and 2 are
// open.
var wasiFunctions = map[string]function{
	"args_get":            wasi(func(*instance, api.Memory, []uint64) errno { return errnoSuccess }, i32, i32),
	"args_sizes_get":      wasi(wasiNone, i32, i32),
	"environ_get":         wasi(func(*instance, api.Memory, []uint64) errno { return errnoSuccess }, i32, i32),
	"environ_sizes_get":   wasi(wasiNone, i32, i32),
	"sched_yield":         wasi(func(*instance, api.Memory, []uint64) errno { return errnoSuccess }),
	"clock_time_get":      wasi(wasiClockTime, i32, i64, i32),
	"poll_oneoff":         wasi(wasiPoll, i32, i32, i32, i32),
	"random_get":          wasi(wasiRandom, i32, i32),
	"fd_write":            wasi(wasiWrite, i32, i32, i32, i32),
	"fd_close":            wasi(wasiStandard, i32),
	"fd_fdstat_get":       wasi(wasiStat, i32, i32),
	"fd_fdstat_set_flags": wasi(wasiStandard, i32, i32),
	"fd_prestat_get":      wasi(func(*instance, api.Memory, []uint64) errno { return errnoBadFile }, i32, i32),
	"fd_prestat_dir_name": wasi(func(*instance, api.Memory, []uint64) errno { return errnoBadFile }, i32, i32, i32),
	"proc_exit": {params: []api.ValueType{i32}, run: func(_ *instance, _ api.Memory, stack []uint64) {
		abi.Stop(&exited{status: uint32(stack[0])})
	}},
}

// wasi makes a function of the host from one that returns an errno.
func wasi(run func(i *instance, memory api.Memory, stack []uint64) errno, params ...api.ValueType) function {
	return function{
		params: params, results: []api.ValueType{i32},
		run: func(i *instance, memory api.Memory, stack []uint64) {
			result := run(i, memory, stack)
			if len(stack) > 0 {
				stack[0] = uint64(result)
			}
		},
	}
}

// wasiNone reports an empty list: no elements, no bytes.
func wasiNone(_ *instance, memory api.Memory, stack []uint64) errno {
	if !memory.WriteUint32Le(uint32(stack[0]), 0) || !memory.WriteUint32Le(uint32(stack[1]), 0) {
		return errnoFault
	}
	return errnoSuccess
}

// wasiStandard accepts calls that change nothing on an open descriptor.
func wasiStandard(_ *instance, _ api.Memory, stack []uint64) errno {
	if uint32(stack[0]) > 2 {
		return errnoBadFile
	}
	return errnoSuccess
}

// wasiStat describes an open descriptor as a terminal.
func wasiStat(_ *instance, memory api.Memory, stack []uint64) errno {
	const characterDevice, mayWrite = 2, 1 << 6
	fd := uint32(stack[0])
	if fd > 2 {
		return errnoBadFile
	}
	stat := [24]byte{0: characterDevice}
	if fd > 0 {
		stat[8] = mayWrite
	}
	if !memory.Write(uint32(stack[1]), stat[:]) {
		return errnoFault
	}
	return errnoSuccess
}

func wasiRandom(i *instance, memory api.Memory, stack []uint64) errno {
	view, ok := memory.Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		return errnoFault
	}
	i.budget.bytes(uint32(len(view)), 0)
	i.call.read(i.plugin.seed, view, func(encoded int, extra int64) {
		i.budget.beside += extra
		i.budget.bytes(0, encoded)
	})
	return errnoSuccess
}

// maxVectors is the most pieces of one write.
const maxVectors = 1024

// wasiWrite logs the lines that the guest writes to its standard output and error.
func wasiWrite(i *instance, memory api.Memory, stack []uint64) errno {
	fd, vectors, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if fd != 1 && fd != 2 {
		return errnoBadFile
	}
	if count > maxVectors {
		return errnoInvalid
	}
	pieces, ok := memory.Read(vectors, 8*count)
	if !ok {
		return errnoFault
	}
	i.budget.charge(int64(count) * pieceFuel)
	written := uint32(0)
	for ; len(pieces) > 0; pieces = pieces[8:] {
		piece, ok := memory.Read(binary.LittleEndian.Uint32(pieces), binary.LittleEndian.Uint32(pieces[4:]))
		if !ok {
			return errnoFault
		}
		i.budget.bytes(uint32(len(piece)), 0)
		i.budget.charge(int64(bytes.Count(piece, []byte{'\n'})) * lineFuel)
		i.call.write(i.plugin.log, i.tenant, int(fd-1), piece)
		written += uint32(len(piece))
	}
	if !memory.WriteUint32Le(result, written) {
		return errnoFault
	}
	return errnoSuccess
}

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

// wasiClockTime returns the decision's time. The wall clock stands still. The
// monotonic clock advances by the time that the guest asked to wait; otherwise a
// guest that sleeps would wait for ever.
func wasiClockTime(i *instance, memory api.Memory, stack []uint64) errno {
	now := i.call.now
	switch uint32(stack[0]) {
	case clockRealtime:
	case clockMonotonic:
		now = now.Add(i.call.elapsed)
	default:
		return errnoUnsupported
	}
	if !memory.WriteUint64Le(uint32(stack[2]), uint64(now.UnixNano())) {
		return errnoFault
	}
	return errnoSuccess
}

// These are sizes and constants of the structures that poll_oneoff reads and
// writes.
const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 1024

	eventClock = 0
	eventRead  = 1
	eventWrite = 2
)

// wasiPoll returns at once: every clock has run out, every descriptor is ready. The
// guest's monotonic clock advances by the longest wait.
func wasiPoll(i *instance, memory api.Memory, stack []uint64) errno {
	in, out, count, result := uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
	if count == 0 || count > maxSubscriptions {
		return errnoInvalid
	}
	subscriptions, ok := memory.Read(in, count*subscriptionSize)
	events, ok2 := memory.Read(out, count*eventSize)
	if !ok || !ok2 {
		return errnoFault
	}
	i.budget.charge(int64(count) * waitFuel)
	var longest time.Duration
	for n := range int(count) {
		subscription := [subscriptionSize]byte(subscriptions[n*subscriptionSize:]) // a copy: the areas may overlap
		event := events[n*eventSize : (n+1)*eventSize]
		kind, code := subscription[8], errnoSuccess
		switch kind {
		case eventClock:
			longest = max(longest, i.call.wait(subscription[16:]))
		case eventRead, eventWrite:
			if binary.LittleEndian.Uint32(subscription[16:]) > 2 {
				code = errnoBadFile
			}
		default:
			code = errnoInvalid
		}
		clear(event)
		copy(event, subscription[:8]) // the guest's user data
		binary.LittleEndian.PutUint16(event[8:], uint16(code))
		event[10] = kind
	}
	i.call.elapsed += longest
	if !memory.WriteUint32Le(result, count) {
		return errnoFault
	}
	return errnoSuccess
}

// wait returns how long a clock's subscription waits from now. A guest may wait at
// most a year in one call.
func (c *call) wait(clock []byte) time.Duration {
	const absolute, most = 1, 365 * 24 * time.Hour
	timeout := binary.LittleEndian.Uint64(clock[8:])
	if binary.LittleEndian.Uint16(clock[24:])&absolute != 0 {
		now := c.now
		if binary.LittleEndian.Uint32(clock) == clockMonotonic {
			now = now.Add(c.elapsed)
		}
		timeout -= min(timeout, uint64(now.UnixNano()))
	}
	return min(time.Duration(min(timeout, uint64(most))), most-min(c.elapsed, most))
}
