//go:build !wasip1

package sdktest

import (
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

// Bounds of what a plugin hands over in one call, the agent's own, in bytes
// where they bound text. What is longer is cut.
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

// Results of Path and Setting that are no handle and no length.
const (
	pathRefused    = -1
	pathNotNow     = -2
	pathTooMany    = -3
	settingMissing = -1
)

// agent answers a plugin's calls during one loading and one call.
type agent struct {
	settings   map[string]any
	projection projection.Projection
	// loading: paths may be declared. refused is why the last was not taken.
	loading bool
	refused error
	result  Result
	put     int
}

var _ host.Host = (*agent)(nil)

// stopped ends a call from inside of a function of the agent: what the plugin
// hands over cannot be taken.
type stopped struct{ message string }

func stop(format string, args ...any) {
	panic(stopped{fmt.Sprintf(format, args...)}) //nolint:forbidigo // it must leave the plugin's frames; stoppable catches it
}

// stoppable runs the plugin. What is no stop goes on as the panic it is, with
// the stack of the plugin.
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
	var answer int32
	a.loading = true
	s := stoppable(func() { answer = guest.Init() })
	a.loading = false
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

// answers are those of wardlet_admit.
var answers = map[int32]Answer{0: Allow, 1: Deny, 2: Hold, 3: Abstain}

func (a *agent) admit() Result {
	var answer int32
	if s := stoppable(func() { answer = guest.Admit() }); s != nil {
		return failure(badOutput, s.message)
	}
	known, ok := answers[answer]
	if !ok {
		known, a.result.Code = Failed, pluginError
	}
	a.result.Answer = known
	return a.result
}

// Path implements host.Host.
func (a *agent) Path(text string) int32 {
	if !a.loading {
		return pathNotNow
	}
	err := a.projection.Declare(text)
	switch {
	case errors.Is(err, projection.ErrTooMany):
		a.refused = err
		return pathTooMany
	case err != nil:
		a.refused = err
		return pathRefused
	}
	return int32(len(a.projection) - 1)
}

// Setting implements host.Host.
func (a *agent) Setting(text string, buf []byte) int32 {
	value, ok := lookup(a.settings, text)
	if !ok {
		return settingMissing
	}
	var w record.Writer
	if err := writeSetting(&w, value); err != nil {
		return settingMissing
	}
	if len(w.Out) <= len(buf) {
		copy(buf, w.Out)
	}
	return int32(len(w.Out))
}

// take is a text that the plugin hands over; it counts.
func (a *agent) take(text string, limit int) string {
	if a.put += len(text); a.put > outputBytes {
		stop("the plugin put out more than %d bytes in one call", outputBytes)
	}
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
