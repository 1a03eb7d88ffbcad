package guest

import (
	"runtime"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Rescue turns what a hook recovered from a panic, if anything, into a reason
// that names the line: cheaper for the agent than an instance that died. The
// function that the hook defers must call it. It reports whether there was a
// panic.
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

// panicked says where, as seen from Rescue.
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
