//go:build !wasip1

package host

// Host answers the calls of a plugin that runs in the process of a test. Its methods do
// what the functions of this package with the same names do.
type Host interface {
	Path(text string) int32
	Field(text string) int32
	Get(handle int32, buf []byte) int32
	JSON(document int32, buf []byte) int32
	Setting(text string, buf []byte) int32
	Reason(code, message string)
	Warn(text string)
	Annotate(key, value string)
	Explain(text string)
	RetryAfter(milliseconds int64)
	Patch(text string)
	Log(level int32, text string)
	LogEnabled(level int32) bool
}

// current answers all calls.
var current Host

// Use sets the host for all calls that follow. nil removes the host.
func Use(h Host) { current = h }

// Current returns the current host.
func Current() Host { return current }

func now() Host {
	if current == nil {
		panic("this function of the SDK asks the agent: call it from a plugin's setup or policy, and in tests run those with sdktest") //nolint:forbidigo // a misuse in a test; there is nobody to return an error to
	}
	return current
}

// Path declares a field that is part of the record. It returns the handle of the field,
// from 0, or a negative number on error.
func Path(text string) int32 { return now().Path(text) }

// Field declares a field that is not part of the record. Its handles continue those of
// Path.
func Field(text string) int32 { return now().Field(text) }

// Get writes the value of a declared field to buf, if buf is large enough. It returns the
// value's length, or a negative number if there is no such handle.
func Get(handle int32, buf []byte) int32 { return now().Get(handle, buf) }

// JSON writes a whole document to buf, if buf is large enough. Document 0 is the request, 1
// the object, 2 the old object, 3 the facts about the node, and the numbers from 16 are the
// candidates. It returns the length of the document, or a negative number if there is none.
func JSON(document int32, buf []byte) int32 { return now().JSON(document, buf) }

// Setting writes the value of a setting to buf, if buf is large enough. It returns the
// value's length, or a negative number if there is no such setting.
func Setting(text string, buf []byte) int32 { return now().Setting(text, buf) }

// Reason sets the reason of the answer. The last call counts.
func Reason(code, message string) { now().Reason(code, message) }

// Warn adds a warning for the author of the pod.
func Warn(text string) { now().Warn(text) }

// Annotate adds an annotation to the decision.
func Annotate(key, value string) { now().Annotate(key, value) }

// Explain sets the explanation of the answer. The last call counts.
func Explain(text string) { now().Explain(text) }

// RetryAfter sets the time after which a pod on hold is judged again.
func RetryAfter(milliseconds int64) { now().RetryAfter(milliseconds) }

// Patch proposes a change of the document, as a JSON patch (RFC 6902). The last call
// counts.
func Patch(text string) { now().Patch(text) }

// Log writes a line to the agent's log: 0 debug, 1 info, 2 warning, 3 error.
func Log(level int32, text string) { now().Log(level, text) }

// LogEnabled reports whether the agent logs lines of a level.
func LogEnabled(level int32) bool { return now().LogEnabled(level) }
