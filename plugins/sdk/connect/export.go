//go:build wasip1

package connect

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
)

// marker says by its presence that the plugin speaks version 1.1 of the ABI,
// which has this hook. It is never called.
//
//go:wasmexport wardlet_abi_1_1
func marker() {} //nolint:unused // its name counts

//go:wasmexport wardlet_connect
func wardletConnect() (result int32) { //nolint:unused // the agent calls it
	result = hook.Failed
	defer func() {
		if result == hook.Failed { // or it was never given
			guest.Rescue(recover())
		}
	}()
	return decide()
}
