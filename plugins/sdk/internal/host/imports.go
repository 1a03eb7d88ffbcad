//go:build wasip1

package host

import (
	"runtime"
	"unsafe"
)

//go:wasmimport wardlet1 path
//go:noescape
func path(path string) int32

//go:wasmimport wardlet1 setting
//go:noescape
func setting(path string, buf unsafe.Pointer, capacity uint32) int32

//go:wasmimport wardlet1 reason
//go:noescape
func reason(code, message string)

//go:wasmimport wardlet1 warn
//go:noescape
func warn(text string)

//go:wasmimport wardlet1 annotate
//go:noescape
func annotate(key, value string)

//go:wasmimport wardlet1 explain
//go:noescape
func explain(text string)

//go:wasmimport wardlet1 retry_after_ms
func retryAfter(milliseconds int64)

//go:wasmimport wardlet1 log
//go:noescape
func log(level int32, text string)

//go:wasmimport wardlet1 log_enabled
func logEnabled(level int32) int32

// Path declares a field of the projection. It gives its handle, from 0, or a
// negative number.
func Path(text string) int32 { return path(text) }

// Setting writes the value of a setting to buf if it has room for it. It gives
// the value's length, or a negative number if there is no such setting.
func Setting(text string, buf []byte) int32 {
	length := setting(text, unsafe.Pointer(unsafe.SliceData(buf)), uint32(len(buf)))
	runtime.KeepAlive(buf)
	return length
}

// Reason says why the plugin answers as it does. The last call counts.
func Reason(code, message string) { reason(code, message) }

// Warn adds a warning for whoever made the pod.
func Warn(text string) { warn(text) }

// Annotate adds an annotation to the decision.
func Annotate(key, value string) { annotate(key, value) }

// Explain says how the answer came about. The last call counts.
func Explain(text string) { explain(text) }

// RetryAfter says when a pod on hold is to be judged again.
func RetryAfter(milliseconds int64) { retryAfter(milliseconds) }

// Log writes a line to the agent's log: 0 debug, 1 info, 2 warning, 3 error.
func Log(level int32, text string) { log(level, text) }

// LogEnabled reports whether lines of a level are written anywhere.
func LogEnabled(level int32) bool { return logEnabled(level) != 0 }
