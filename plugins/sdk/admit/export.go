//go:build wasip1

package admit

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
)

//go:wasmexport wardlet_admit
func wardletAdmit() (result int32) { //nolint:unused // the agent calls it
	result = hook.Failed
	defer func() {
		if result == hook.Failed { // or the hook panicked before it set result
			guest.Rescue(recover())
		}
	}()
	return admit()
}
