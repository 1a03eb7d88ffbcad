package wasm

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

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
	// NotReady: the plugin has no instance for the call; see ErrNotReady.
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

func failf(code FailureCode, format string, args ...any) *Failure {
	return &Failure{Code: code, Err: fmt.Errorf(format, args...)}
}

// stop terminates the guest's call from within a host function.
func stop(why error) {
	panic(why) //nolint:forbidigo // wazero unwinds the guest by a panic only, and hands it back as an error
}

// hostFailed returns the failure for a panic of host code.
func hostFailed(panicked any) *Failure { return failf(HostError, "the host failed: %v", panicked) }

// exited is the error with which proc_exit terminates a call.
type exited struct{ status uint32 }

func (e *exited) Error() string {
	return fmt.Sprintf("the plugin ended itself with status %d", e.status)
}

// failureOf returns the failure for an error of a call into the guest. full reports
// whether the guest's memory has its largest size. complaint is the first line that
// the guest wrote to its standard error.
func failureOf(err error, full bool, complaint string) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	// The lines after the first are a stack trace of functions without names.
	first, _, _ := strings.Cut(err.Error(), "\n")
	text, trap := strings.CutPrefix(first, "wasm error: ")
	exit, ended := errors.AsType[*exited](err)
	_, broken := errors.AsType[runtime.Error](err)
	switch {
	case strings.HasPrefix(text, "stack overflow"):
		return failf(StackLimit, "calls are nested too deeply")
	case ended:
		text = exit.Error()
	case broken || !trap:
		return failf(HostError, "the host failed: %s", text)
	}
	if complaint != "" {
		text += "; it wrote: " + complaint
	}
	text = shown(text)
	if full {
		// This is a guess: WebAssembly does not report the cause of a trap. Most
		// guests that get no more memory trap like this, but so does a guest that
		// fails for another reason while it uses all its memory.
		return failf(MemoryLimit, "%s, with all the memory it may have in use", text)
	}
	return failf(Trap, "%s", text)
}
