//go:build wasip1

package validate

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

//go:wasmexport wardlet_validate_settings
func wardletValidateSettings() (refused int32) { //nolint:unused // the agent calls it
	defer func() {
		if guest.Rescue(recover()) {
			refused = 1
		}
	}()
	return run()
}
