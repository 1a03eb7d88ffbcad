package validate

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// checks are the functions that were passed to Settings.
var checks []func() error

// Settings registers a function that checks the settings. Call it once, in an init
// function. If check returns an error, the agent refuses the policy document, so the error
// should name the setting and what it must be. The agent calls check in a separate instance, so
// setup does not see the variables that were set by check.
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
