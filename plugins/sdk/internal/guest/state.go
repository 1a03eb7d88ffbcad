package guest

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// stage is what the plugin is doing.
type stage byte

const (
	declaring stage = iota
	settingUp
	idle
	judging
)

var state struct {
	stage  stage
	paths  []string
	setups []func() error
	// fields are those of the record, by handle; read holds while judging.
	fields [record.MaxFields]record.Value
	// fault is the first misuse of the SDK since the call began.
	fault string
}

// Admit answers the admit hook; package admit sets it.
var Admit func() int32

// Declare asks for the field at a path, root included, and gives its handle.
// It must be called while packages initialise.
func Declare(path string) (handle int) {
	if state.stage != declaring {
		Fault("field " + path + " is declared too late: declare fields as package variables")
		return -1
	}
	state.paths = append(state.paths, path)
	return len(state.paths) - 1
}

// OnInit adds something to do when the agent has loaded the plugin. It must be
// called while packages initialise.
func OnInit(setup func() error) { state.setups = append(state.setups, setup) }

// Init is wardlet_init: it declares the fields to the agent and does what
// OnInit was given. It returns 0, or 1 after telling the agent the reason.
func Init() int32 {
	state.stage, state.fault = settingUp, ""
	err := setUp()
	state.stage = idle
	if state.fault != "" {
		// What setup made of the mistake is only a consequence.
		err = errors.New(state.fault)
	}
	if err != nil {
		host.Reason("", err.Error())
		return 1
	}
	return 0
}

func setUp() error {
	for handle, path := range state.paths {
		if int(host.Path(path)) != handle {
			return errors.New("the agent refuses the field " + path)
		}
	}
	for _, setup := range state.setups {
		if err := setup(); err != nil {
			return err
		}
	}
	return nil
}

// Begin reads the record that the agent has put into the input area.
func Begin() error {
	state.fault = ""
	text, err := input.text()
	if err != nil {
		return err
	}
	if err := record.Parse(text, state.fields[:len(state.paths)]); err != nil {
		return err
	}
	state.stage = judging
	return nil
}

// End closes what Begin opened. The error is the first misuse in between: an
// answer that was given all the same must not count.
func End() error {
	state.stage = idle
	if state.fault != "" {
		return errors.New(state.fault)
	}
	return nil
}

// Field is the value of a declared field of the pod that is being judged. Path
// is its path, for faults.
func Field(handle int, path string) record.Value {
	if state.stage != judging || handle < 0 {
		Fault("field " + path + " is read where no pod is judged: read fields in the policy, not in setup")
		return record.Value{}
	}
	return state.fields[handle]
}

// Fault notes a misuse of the SDK. It makes the call fail.
func Fault(message string) {
	if state.fault == "" {
		state.fault = message
	}
}
