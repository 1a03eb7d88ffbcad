package wasm

import (
	"fmt"
	"time"
)

// These bound what a plugin hands over in one call; bounds of text are in bytes.
// Longer text is cut, except for the keys of annotations.
const (
	maxReasonBytes  = 64
	maxMessageBytes = 4 << 10
	maxWarnings     = 64
	maxAnnotations  = 64
	maxKeyBytes     = 253
	maxRetryAfter   = 24 * time.Hour
)

// output is what a plugin handed over in the call under way.
type output struct {
	// left is how many bytes the plugin may still hand over.
	left            int
	reason, message string
	explanation     string
	warnings        []string
	annotations     map[string]string
	retryAfter      time.Duration
	patch           []byte
}

// charge counts the bytes that the plugin hands over, and stops the call if there
// are too many.
func (o *output) charge(n uint32) {
	if uint64(n) > uint64(o.left) {
		stop(failf(BadOutput, "the plugin put out more than its policy allows in one call: raise output_bytes of its [limits]"))
	}
	o.left -= int(n)
}

func (o *output) setReason(code, message string) {
	o.reason = bounded(code, maxReasonBytes)
	o.message = bounded(message, maxMessageBytes)
}

func (o *output) warn(text string) {
	if len(o.warnings) == maxWarnings {
		stop(failf(BadOutput, "more than %d warnings in one call", maxWarnings))
	}
	o.warnings = append(o.warnings, bounded(text, maxMessageBytes))
}

func (o *output) annotate(key, value string) {
	if key == "" || len(key) > maxKeyBytes {
		stop(failf(BadOutput, "an annotation's key of %d bytes: it must have 1 to %d", len(key), maxKeyBytes))
	}
	key = printable(key)
	if _, ok := o.annotations[key]; !ok && len(o.annotations) == maxAnnotations {
		stop(failf(BadOutput, "more than %d annotations in one call", maxAnnotations))
	}
	if o.annotations == nil {
		o.annotations = map[string]string{}
	}
	o.annotations[key] = printable(value, '\n', '\t')
}

func (o *output) explain(text string) { o.explanation = printable(text, '\n', '\t') }

func (o *output) retry(milliseconds int64) {
	if milliseconds < 0 {
		stop(failf(BadOutput, "a retry after %d ms: it must not be negative", milliseconds))
	}
	o.retryAfter = time.Duration(min(milliseconds, maxRetryAfter.Milliseconds())) * time.Millisecond
}

// said returns the last reason and message as one text, empty if there is neither.
func (o *output) said() string {
	if o.reason != "" && o.message != "" {
		return o.reason + ": " + o.message
	}
	return o.reason + o.message
}

// why returns the details to add when the guest reports an error with a number.
func (o *output) why(status int32) string {
	if text := o.said(); text != "" {
		return ": " + text
	}
	return fmt.Sprintf(" with %d and gives no reason", status)
}
