//go:build !wasip1

package host

// Host answers the calls of a plugin that runs in the process of a test. The
// functions of this package of the same names say what each is for.
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

// Use puts a host in place for all calls that follow. Nil takes it away.
func Use(h Host) { current = h }

// Current is the host in place.
func Current() Host { return current }

func now() Host {
	if current == nil {
		panic("this function of the SDK asks the agent: call it from a plugin's setup or policy, and in tests run those with sdktest") //nolint:forbidigo // a misuse in a test; there is nobody to return an error to
	}
	return current
}

// Path declares a field of the record. It returns its handle, from 0, or a
// negative number.
func Path(text string) int32 { return now().Path(text) }

// Field declares a field that is not put into the record. It shares its
// handles with Path.
func Field(text string) int32 { return now().Field(text) }

// Get writes the value of a declared field to buf if it has room for it. It
// returns the value's length, or a negative number if there is no such handle.
func Get(handle int32, buf []byte) int32 { return now().Get(handle, buf) }

// JSON writes a whole document to buf if it has room for it: 0 is the request,
// 1 the object, 2 the old object, 3 the facts about the node, and from 16 on
// the candidates. It returns the length, or a negative number if there is none.
func JSON(document int32, buf []byte) int32 { return now().JSON(document, buf) }

// Setting writes the value of a setting to buf if it has room for it. It returns
// the value's length, or a negative number if there is no such setting.
func Setting(text string, buf []byte) int32 { return now().Setting(text, buf) }

// Reason says why the plugin answers as it does. The last call counts.
func Reason(code, message string) { now().Reason(code, message) }

// Warn adds a warning for the author of the pod.
func Warn(text string) { now().Warn(text) }

// Annotate adds an annotation to the decision.
func Annotate(key, value string) { now().Annotate(key, value) }

// Explain says how the answer came about. The last call counts.
func Explain(text string) { now().Explain(text) }

// RetryAfter says when a pod on hold is to be judged again.
func RetryAfter(milliseconds int64) { now().RetryAfter(milliseconds) }

// Patch proposes a change of the document, as RFC 6902 has it. The last call
// counts.
func Patch(text string) { now().Patch(text) }

// Log writes a line to the agent's log: 0 debug, 1 info, 2 warning, 3 error.
func Log(level int32, text string) { now().Log(level, text) }

// LogEnabled reports whether lines of a level are written anywhere.
func LogEnabled(level int32) bool { return now().LogEnabled(level) }
