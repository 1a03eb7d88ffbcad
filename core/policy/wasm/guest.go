package wasm

import (
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/api"
)

// guestBytes returns a view of the guest's memory, which is valid until the guest
// runs again. A range outside of the memory stops the call.
func guestBytes(memory api.Memory, address, length uint32) []byte {
	view, ok := memory.Read(address, length)
	if !ok {
		stop(failf(BadOutput, "the plugin names %d bytes at %#x, its memory has %d", length, address, memory.Size()))
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
