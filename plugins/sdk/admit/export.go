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
		if result == hook.Failed { // or it was never given
			guest.Rescue(recover())
		}
	}()
	return admit()
}
