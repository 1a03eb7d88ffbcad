package guest

import (
	"runtime"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Rescue turns the value that a hook recovered from a panic into a reason that names the
// line, and reports whether there was a panic. Without it, the panic would end the
// instance, and the agent would have to make a new one. Rescue must be called by the
// function that the hook defers.
func Rescue(value any) (was bool) {
	if value == nil {
		return false
	}
	End()
	host.Reason("", "panic: "+describe(value)+panicked())
	return true
}

func describe(value any) string {
	switch value := value.(type) {
	case error:
		return value.Error()
	case string:
		return value
	}
	return "a value that is neither an error nor a string"
}

// panicked returns the file and line of the panic. It must be called by Rescue.
func panicked() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			return " (" + frame.File[strings.LastIndexByte(frame.File, '/')+1:] + ":" + Itoa(frame.Line) + ")"
		}
		if !more {
			return ""
		}
	}
}
