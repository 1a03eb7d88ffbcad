package wasm

import (
	"bytes"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
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
		stop(&exited{status: uint32(stack[0])})
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
	i.tank.bytes(uint32(len(view)), 0)
	i.call.read(i.plugin.seed, view, func(encoded int, extra int64) {
		i.tank.beside += extra
		i.tank.bytes(0, encoded)
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
	i.tank.charge(int64(count) * pieceFuel)
	written := uint32(0)
	for ; len(pieces) > 0; pieces = pieces[8:] {
		piece, ok := memory.Read(binary.LittleEndian.Uint32(pieces), binary.LittleEndian.Uint32(pieces[4:]))
		if !ok {
			return errnoFault
		}
		i.tank.bytes(uint32(len(piece)), 0)
		i.tank.charge(int64(bytes.Count(piece, []byte{'\n'})) * lineFuel)
		i.call.write(i.plugin.log, i.tenant, int(fd-1), piece)
		written += uint32(len(piece))
	}
	if !memory.WriteUint32Le(result, written) {
		return errnoFault
	}
	return errnoSuccess
}
