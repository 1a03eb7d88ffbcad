//go:build wasip1

package connect

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
)

// marker is never called. Its exported name says that the plugin implements version 1.1 of
// the ABI, which has this hook.
//
//go:wasmexport wardlet_abi_1_1
func marker() {} //nolint:unused // its name counts

//go:wasmexport wardlet_connect
func wardletConnect() (result int32) { //nolint:unused // the agent calls it
	result = hook.Failed
	defer func() {
		if result == hook.Failed { // or the hook panicked before it set result
			guest.Rescue(recover())
		}
	}()
	return decide()
}
