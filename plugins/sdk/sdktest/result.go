//go:build !wasip1

package sdktest

import "time"

// Answer is what a call came to.
type Answer string

// The answers. Failed is a call without a verdict: of the agent's policies,
// on_error decides then.
const (
	Allow   Answer = "allow"
	Deny    Answer = "deny"
	Hold    Answer = "hold"
	Abstain Answer = "abstain"
	Failed  Answer = "failed"
)

// Result is what a policy said of a pod.
type Result struct {
	Answer Answer
	// Code and Message are the reason of Deny and Hold; of Failed, Code is the
	// agent's code for what went wrong: PluginError, BadOutput, InputTooLarge.
	Code, Message string
	// RetryAfter is 0 where the policy named no time.
	RetryAfter  time.Duration
	Warnings    []string
	Annotations map[string]string
	Explanation string
	// Log are the lines the plugin logged, each with its level: "info: …".
	Log []string
}

// Codes of failures.
const (
	pluginError   = "PluginError"
	badOutput     = "BadOutput"
	inputTooLarge = "InputTooLarge"
)

func failure(code, message string) Result {
	return Result{Answer: Failed, Code: code, Message: message}
}
