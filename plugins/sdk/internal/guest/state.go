package guest

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// stage is what the plugin currently does.
type stage byte

const (
	declaring stage = iota
	settingUp
	idle
	judging
)

// setups are the functions that were passed to OnInit.
var setups []func() error

// Hooks are the functions of the hooks. The packages of the hooks set them when they are
// imported.
var Hooks struct{ Admit, Merge, Filter, Connect, ValidateSettings func() int32 }

// OnInit adds a function to call when the agent has loaded the plugin. It must be called
// while packages initialise.
func OnInit(setup func() error) { setups = append(setups, setup) }

// Init implements wardlet_init: it declares the fields to the agent and calls the functions
// that were passed to OnInit. It returns 0, or 1 after it passed the reason to the agent.
func Init() int32 {
	return Settle(func() error {
		if err := tell(); err != nil {
			return err
		}
		for _, setup := range setups {
			if err := setup(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Settle calls a function outside of hooks. It returns 0, or 1 after it passed the reason
// to the agent.
func Settle(do func() error) int32 {
	calls.stage, calls.fault = settingUp, ""
	err := do()
	calls.stage = idle
	if calls.fault != "" {
		// The misuse is the cause: an error of setup is only its consequence.
		err = errors.New(calls.fault)
	}
	if err != nil {
		host.Reason("", err.Error())
		return 1
	}
	return 0
}

// Begin parses the record that the agent has written into the input area. The error says
// why the record is invalid.
func Begin() error {
	if calls.fault != "" {
		calls.fault = ""
	}
	text, err := calls.text()
	if err != nil {
		return err
	}
	if err := calls.index.Parse(text, fields.recorded); err != nil {
		calls.forget()
		return err
	}
	calls.stage, calls.used, calls.reasoned = judging, int(calls.length), false
	return nil
}

// End ends the call that Begin began. It returns the first misuse of the SDK in the call,
// empty if there was none. If there was one, the answer of the plugin must not be used.
func End() (fault string) {
	calls.stage = idle
	calls.forget()
	return calls.fault
}

// Fault records a misuse of the SDK. The call then fails.
func Fault(message string) {
	if calls.fault == "" {
		calls.fault = message
	}
}
