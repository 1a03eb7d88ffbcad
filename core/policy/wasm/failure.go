package wasm

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// FailureCode says what went wrong with a plugin.
type FailureCode string

// The codes of failures.
const (
	// FuelExhausted: the call took more than the policy's fuel.
	FuelExhausted FailureCode = "FuelExhausted"
	// Trap: the plugin did what WebAssembly forbids, or ended itself.
	Trap FailureCode = "Trap"
	// MemoryLimit: a trap while the plugin held all the memory it may have.
	MemoryLimit FailureCode = "MemoryLimit"
	// StackLimit: calls were nested too deeply.
	StackLimit FailureCode = "StackLimit"
	// BadOutput: what the plugin handed over breaks the ABI or its bounds.
	BadOutput FailureCode = "BadOutput"
	// HostDenied: the plugin asks for functions that no plugin is given.
	HostDenied FailureCode = "HostDenied"
	// AbiMismatch: the module is not made for this ABI, or lacks a hook.
	AbiMismatch FailureCode = "AbiMismatch"
	// InputTooLarge: the fields do not fit into the plugin's input area.
	InputTooLarge FailureCode = "InputTooLarge"
	// NotReady: the plugin has no instance for the call; see ErrNotReady.
	NotReady FailureCode = "NotReady"
	// PluginError: the plugin itself reported that it cannot decide.
	PluginError FailureCode = "PluginError"
	// HostError: a fault of the host, which says nothing about the plugin.
	HostError FailureCode = "HostError"
)

// Failure is why a plugin gave no answer.
type Failure struct {
	Code FailureCode
	Err  error
	// Fuel is what the call took that failed: all it had where that was not
	// enough, 0 where no call was made.
	Fuel int64
}

// Error is the code and what happened.
func (f *Failure) Error() string { return string(f.Code) + ": " + f.Err.Error() }

// Unwrap is what happened.
func (f *Failure) Unwrap() error { return f.Err }

func failf(code FailureCode, format string, args ...any) *Failure {
	return &Failure{Code: code, Err: fmt.Errorf(format, args...)}
}

// stop ends the guest's call from within a host function.
func stop(why error) {
	panic(why) //nolint:forbidigo // wazero unwinds the guest by a panic only, and hands it back as an error
}

// hostFailed is the failure behind a panic of host code.
func hostFailed(panicked any) *Failure { return failf(HostError, "the host failed: %v", panicked) }

// exited is how proc_exit ends a call.
type exited struct{ status uint32 }

func (e *exited) Error() string {
	return fmt.Sprintf("the plugin ended itself with status %d", e.status)
}

// failureOf is the failure behind an error of a call into the guest. full says
// that the guest's memory stands at its limit, complaint is the first line it
// wrote to its standard error.
func failureOf(err error, full bool, complaint string) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	// Below the first line is a stack trace, of functions without names.
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
		// A guess: WebAssembly does not say why a trap came. Most guests that
		// get no more memory end this way, but one that happens to fail for
		// another reason while it holds all its memory looks the same.
		return failf(MemoryLimit, "%s, with all the memory it may have in use", text)
	}
	return failf(Trap, "%s", text)
}
