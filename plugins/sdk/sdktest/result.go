//go:build !wasip1

package sdktest

import "time"

// Answer is what a call came to.
type Answer string

// The answers. Failed is a call without a verdict: of the agent's policies,
// on_error decides then.
const (
	// Of all hooks.
	Abstain Answer = "abstain"
	Failed  Answer = "failed"
	// Of admit, and Allow and Deny of connect.
	Allow Answer = "allow"
	Deny  Answer = "deny"
	Hold  Answer = "hold"
	// Of merge.
	Win         Answer = "win"
	KeepCurrent Answer = "keep current"
	RejectAll   Answer = "reject all"
	// Of filter.
	Pass  Answer = "pass"
	Drop  Answer = "drop"
	Defer Answer = "defer"
)

// Result is what a policy said.
type Result struct {
	Answer Answer
	// Winner is the number of the candidate that Win is about.
	Winner int
	// Code and Message are the reason of Deny, Hold, RejectAll, Drop and Defer;
	// of Failed, Code is the agent's code for what went wrong: PluginError,
	// BadOutput, InputTooLarge.
	Code, Message string
	// RetryAfter is that of Hold and Defer; 0 where the policy named no time.
	// (The agent then defers for 60 s.)
	RetryAfter  time.Duration
	Warnings    []string
	Annotations map[string]string
	Explanation string
	// Patch is the JSON text of a patch, with Allow and Win; empty where there
	// is none. Whether it fits the pod, and the policy may make it, the agent
	// finds out afterwards.
	Patch string
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
