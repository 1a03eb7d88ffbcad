package guest

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// stage is what the plugin is doing.
type stage byte

const (
	declaring stage = iota
	settingUp
	idle
	judging
)

// setups are what OnInit was given.
var setups []func() error

// Hooks are what a plugin answers; the packages of the hooks set them when
// they are imported.
var Hooks struct{ Admit, Merge, Filter, Connect, ValidateSettings func() int32 }

// OnInit adds something to do when the agent has loaded the plugin. It must be
// called while packages initialise.
func OnInit(setup func() error) { setups = append(setups, setup) }

// Init is wardlet_init: it declares the fields to the agent and does what
// OnInit was given. It returns 0, or 1 after telling the agent the reason.
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

// Settle runs what is to be done outside of hooks. It returns 0, or 1 after
// telling the agent the reason.
func Settle(do func() error) int32 {
	calls.stage, calls.fault = settingUp, ""
	err := do()
	calls.stage = idle
	if calls.fault != "" {
		// What setup made of the mistake is only a consequence.
		err = errors.New(calls.fault)
	}
	if err != nil {
		host.Reason("", err.Error())
		return 1
	}
	return 0
}

// Begin reads the record that the agent has put into the input area. The error
// says why it cannot be used.
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

// End closes what Begin opened. It returns the first misuse in between, empty if
// there was none: an answer that was given all the same must not count.
func End() (fault string) {
	calls.stage = idle
	calls.forget()
	return calls.fault
}

// Fault notes a misuse of the SDK. It makes the call fail.
func Fault(message string) {
	if calls.fault == "" {
		calls.fault = message
	}
}
