//go:build wasip1

package admit

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

//go:wasmexport wardlet_admit
func wardletAdmit() (answer int32) { //nolint:unused // the agent calls it
	defer guest.Rescue(&answer, answerFailed)
	return admit()
}
