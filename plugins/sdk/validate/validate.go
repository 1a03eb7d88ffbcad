package validate

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// checks are what Settings was given.
var checks []func() error

// Settings says how the settings are checked. Call it once, in an init
// function. An error refuses the policy document, so it should name the setting
// and what it must be. The agent runs check in an instance of its own: nothing
// that it keeps is there in setup.
func Settings(check func() error) { checks = append(checks, check) }

func init() { guest.Hooks.ValidateSettings = run }

// run is wardlet_validate_settings.
func run() int32 {
	return guest.Settle(func() error {
		if len(checks) != 1 || checks[0] == nil {
			return errors.New("the plugin imports package validate: call validate.Settings once, in an init function")
		}
		return checks[0]()
	})
}
