package guest

import (
	"runtime"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Rescue turns a panic of the hook that defers it into an answer and a reason
// that names the line: cheaper for the agent than an instance that died.
func Rescue(answer *int32, failed int32) {
	if value := recover(); value != nil {
		End()
		host.Reason("", "panic: "+describe(value)+panicked())
		*answer = failed
	}
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

// panicked says where, as seen from the function that recovered.
func panicked() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
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
