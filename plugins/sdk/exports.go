//go:build wasip1

package sdk

import (
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// marker is never called. Its exported name says which version of the ABI the plugin
// implements.
//
//go:wasmexport wardlet_abi_1_0
func marker() {} //nolint:unused // its name counts

//go:wasmexport wardlet_init
func wardletInit() (refused int32) { //nolint:unused // the agent calls it
	defer func() {
		if guest.Rescue(recover()) {
			refused = 1
		}
	}()
	return guest.InitGuest()
}

//go:wasmexport wardlet_input
func wardletInput() unsafe.Pointer { return guest.Input() } //nolint:unused // the agent calls it
