//go:build wasip1

package host

import (
	"runtime"
	"unsafe"
)

//go:wasmimport wardlet1 path
//go:noescape
func path(path string) int32

//go:wasmimport wardlet1 field
//go:noescape
func field(path string) int32

//go:wasmimport wardlet1 get
//go:noescape
func get(handle int32, buf unsafe.Pointer, capacity uint32) int32

//go:wasmimport wardlet1 json
//go:noescape
func json(document int32, buf unsafe.Pointer, capacity uint32) int32

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

//go:wasmimport wardlet1 patch
//go:noescape
func patch(text string)

//go:wasmimport wardlet1 log
//go:noescape
func log(level int32, text string)

//go:wasmimport wardlet1 log_enabled
func logEnabled(level int32) int32

// Path declares a field that is part of the record. It returns the handle of the field,
// from 0, or a negative number on error.
func Path(text string) int32 { return path(text) }

// Field declares a field that is not part of the record. Its handles continue those of
// Path.
func Field(text string) int32 { return field(text) }

// Get writes the value of a declared field to buf, if buf is large enough. It returns the
// value's length, or a negative number if there is no such handle.
func Get(handle int32, buf []byte) int32 {
	length := get(handle, unsafe.Pointer(unsafe.SliceData(buf)), uint32(len(buf)))
	runtime.KeepAlive(buf)
	return length
}

// JSON writes a whole document to buf, if buf is large enough. Document 0 is the request, 1
// the object, 2 the old object, 3 the facts about the node, and the numbers from 16 are the
// candidates. It returns the length of the document, or a negative number if there is none.
func JSON(document int32, buf []byte) int32 {
	length := json(document, unsafe.Pointer(unsafe.SliceData(buf)), uint32(len(buf)))
	runtime.KeepAlive(buf)
	return length
}

// Setting writes the value of a setting to buf, if buf is large enough. It returns the
// value's length, or a negative number if there is no such setting.
func Setting(text string, buf []byte) int32 {
	length := setting(text, unsafe.Pointer(unsafe.SliceData(buf)), uint32(len(buf)))
	runtime.KeepAlive(buf)
	return length
}

// Reason sets the reason of the answer. The last call counts.
func Reason(code, message string) { reason(code, message) }

// Warn adds a warning for the author of the pod.
func Warn(text string) { warn(text) }

// Annotate adds an annotation to the decision.
func Annotate(key, value string) { annotate(key, value) }

// Explain sets the explanation of the answer. The last call counts.
func Explain(text string) { explain(text) }

// RetryAfter sets the time after which a pod on hold is judged again.
func RetryAfter(milliseconds int64) { retryAfter(milliseconds) }

// Patch proposes a change of the document, as a JSON patch (RFC 6902). The last call
// counts.
func Patch(text string) { patch(text) }

// Log writes a line to the agent's log: 0 debug, 1 info, 2 warning, 3 error.
func Log(level int32, text string) { log(level, text) }

// LogEnabled reports whether the agent logs lines of a level.
func LogEnabled(level int32) bool { return logEnabled(level) != 0 }
