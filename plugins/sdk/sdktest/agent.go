//go:build !wasip1

package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// The limits of what a plugin hands over in one call. They are the same as the agent's;
// limits of text are in bytes. Longer text is cut.
const (
	outputBytes    = 64 << 10
	maxCode        = 64
	maxMessage     = 4 << 10
	maxWarnings    = 64
	maxAnnotations = 64
	maxKey         = 253
	maxRetryAfter  = 24 * time.Hour
	maxLine        = 4 << 10
)

// The results of functions that return a handle or a length, if there is none to return.
const (
	refused = -1
	missing = -1
	notNow  = -2
	tooMany = -3
)

// agent answers the functions that a plugin calls, while the plugin is loaded and during
// one call of a hook.
type agent struct {
	settings   map[string]any
	projection projection.Projection
	// loading: paths may be declared. refused is why the last path was refused.
	loading bool
	refused error
	// hook is the hook that is being called, empty if none is. question is its question.
	hook     string
	question *projection.Question
	result   Result
	put      int
}

var _ host.Host = (*agent)(nil)

// stopped is the panic with which a function of the agent ends a call, because what the
// plugin hands over breaks a rule.
type stopped struct{ message string }

func stop(format string, args ...any) {
	panic(stopped{fmt.Sprintf(format, args...)}) //nolint:forbidigo // it must leave the plugin's frames; stoppable catches it
}

// stoppable runs the plugin, and returns the stopped that ended it, if any. Any other panic
// continues with its value.
func stoppable(run func()) (s *stopped) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case stopped:
			s = &value
		default:
			panic(value) //nolint:forbidigo // the plugin's own
		}
	}()
	run()
	return nil
}

func (a *agent) load() error {
	if validate := guest.Hooks.ValidateSettings; validate != nil {
		if err := a.settle(validate); err != nil {
			return err
		}
	}
	a.loading = true
	defer func() { a.loading = false }()
	return a.settle(guest.Init)
}

// settle calls a function of the plugin that the agent calls before hooks.
func (a *agent) settle(call func() int32) error {
	var answer int32
	s := stoppable(func() { answer = call() })
	switch {
	case s != nil:
		return errors.New(badOutput + ": " + s.message)
	case answer != 0 && a.refused != nil:
		return fmt.Errorf("%s: %w", a.result.Message, a.refused)
	case answer != 0:
		return errors.New(a.result.Message)
	}
	a.result, a.put = Result{}, 0
	return nil
}

// Path implements host.Host.
func (a *agent) Path(text string) int32 { return a.declare(text, false) }

// Field implements host.Host.
func (a *agent) Field(text string) int32 { return a.declare(text, true) }

func (a *agent) declare(text string, lazy bool) int32 {
	if !a.loading {
		return notNow
	}
	handle, err := a.projection.Declare(text, lazy)
	switch {
	case errors.Is(err, projection.ErrTooMany):
		a.refused = err
		return tooMany
	case err != nil:
		a.refused = err
		return refused
	}
	return int32(handle)
}

// Get implements host.Host.
func (a *agent) Get(handle int32, buf []byte) int32 {
	if a.question == nil {
		return notNow
	}
	value, ok, err := a.projection.Value(int(handle), a.question)
	return give(buf, value, ok, err)
}

// JSON implements host.Host.
func (a *agent) JSON(document int32, buf []byte) int32 {
	if a.question == nil {
		return notNow
	}
	text, ok, err := a.question.Document(int(document))
	if document == projection.DocumentNode && !a.projection.NodeRead {
		return missing
	}
	return give(buf, text, ok, err)
}

// give writes data to the buffer if there is room for all of it, and returns the length of
// data.
func give(buf, data []byte, ok bool, err error) int32 {
	switch {
	case err != nil:
		stop("the agent cannot write what it is asked for: %v", err)
	case !ok:
		return missing
	case len(data) <= len(buf):
		copy(buf, data)
	}
	return int32(len(data))
}

// Setting implements host.Host.
func (a *agent) Setting(text string, buf []byte) int32 {
	var w record.Writer
	if text == "" {
		table, err := json.Marshal(a.settings)
		w.JSON(table)
		return give(buf, w.Out, true, err)
	}
	value, ok := lookup(a.settings, text)
	if !ok {
		return missing
	}
	err := writeSetting(&w, value)
	return give(buf, w.Out, true, err)
}

// count adds n to the number of bytes that the plugin handed over.
func (a *agent) count(n int) {
	if a.put += n; a.put > outputBytes {
		stop("the plugin put out more than %d bytes in one call", outputBytes)
	}
}

// take counts a text that the plugin hands over, and returns it, cut to the limit.
func (a *agent) take(text string, limit int) string {
	a.count(len(text))
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return text
}

// Reason implements host.Host.
func (a *agent) Reason(code, message string) {
	a.result.Code, a.result.Message = a.take(code, maxCode), a.take(message, maxMessage)
}

// Warn implements host.Host.
func (a *agent) Warn(text string) {
	if len(a.result.Warnings) == maxWarnings {
		stop("more than %d warnings in one call", maxWarnings)
	}
	a.result.Warnings = append(a.result.Warnings, a.take(text, maxMessage))
}

// Annotate implements host.Host.
func (a *agent) Annotate(key, value string) {
	if key == "" || len(key) > maxKey {
		stop("an annotation's key of %d bytes: it must have 1 to %d", len(key), maxKey)
	}
	key, value = a.take(key, maxKey), a.take(value, outputBytes)
	if _, ok := a.result.Annotations[key]; !ok && len(a.result.Annotations) == maxAnnotations {
		stop("more than %d annotations in one call", maxAnnotations)
	}
	if a.result.Annotations == nil {
		a.result.Annotations = map[string]string{}
	}
	a.result.Annotations[key] = value
}

// Explain implements host.Host.
func (a *agent) Explain(text string) { a.result.Explanation = a.take(text, outputBytes) }

// RetryAfter implements host.Host.
func (a *agent) RetryAfter(milliseconds int64) {
	if milliseconds < 0 {
		stop("a retry after %d ms: it must not be negative", milliseconds)
	}
	a.result.RetryAfter = time.Duration(min(milliseconds, maxRetryAfter.Milliseconds())) * time.Millisecond
}

var levels = []string{"debug: ", "info: ", "warn: ", "error: "}

// Log implements host.Host.
func (a *agent) Log(level int32, text string) {
	if level < 0 || int(level) >= len(levels) {
		stop("a log line of level %d: levels are 0 to %d", level, len(levels)-1)
	}
	a.result.Log = append(a.result.Log, levels[level]+text[:min(len(text), maxLine)])
}

// LogEnabled implements host.Host.
func (a *agent) LogEnabled(level int32) bool { return level >= 0 && int(level) < len(levels) }
