package abi

import "fmt"

// FailureCode is the kind of a Failure.
type FailureCode string

// The codes of failures.
const (
	// FuelExhausted: the call used more than the policy's fuel.
	FuelExhausted FailureCode = "FuelExhausted"
	// Trap: the plugin trapped or called proc_exit.
	Trap FailureCode = "Trap"
	// MemoryLimit: the plugin trapped while it used all the memory that it may
	// have.
	MemoryLimit FailureCode = "MemoryLimit"
	// StackLimit: calls were nested too deeply.
	StackLimit FailureCode = "StackLimit"
	// BadOutput: what the plugin handed over breaks the ABI or its bounds.
	BadOutput FailureCode = "BadOutput"
	// HostDenied: the module imports functions that the host does not offer.
	HostDenied FailureCode = "HostDenied"
	// AbiMismatch: the module is not made for this ABI, or lacks a hook.
	AbiMismatch FailureCode = "AbiMismatch"
	// InputTooLarge: the fields do not fit into the plugin's input area.
	InputTooLarge FailureCode = "InputTooLarge"
	// NotReady: the plugin has no instance for the call; see wasm.ErrNotReady.
	NotReady FailureCode = "NotReady"
	// PluginError: the plugin itself reported that it cannot decide.
	PluginError FailureCode = "PluginError"
	// HostError: the host failed, which says nothing about the plugin.
	HostError FailureCode = "HostError"
)

// Failure is the error of a plugin that did not answer.
type Failure struct {
	Code FailureCode
	Err  error
	// Fuel is the fuel that the failed call used: all of the call's fuel if that
	// was not enough, 0 if no call was made.
	Fuel int64
}

// Error returns the code and the underlying error.
func (f *Failure) Error() string { return string(f.Code) + ": " + f.Err.Error() }

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// Failf returns a failure with a formatted error. %w works as in fmt.Errorf.
func Failf(code FailureCode, format string, args ...any) *Failure {
	return &Failure{Code: code, Err: fmt.Errorf(format, args...)}
}

// Stop terminates the guest's call from within a host function.
func Stop(why error) {
	panic(why) //nolint:forbidigo // wazero unwinds the guest by a panic only, and hands it back as an error
}
