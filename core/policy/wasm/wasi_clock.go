package wasm

import (
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
)

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
	i.tank.charge(int64(count) * waitFuel)
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
