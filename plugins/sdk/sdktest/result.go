//go:build !wasip1

package sdktest

import "time"

// Answer is the result of a call.
type Answer string

// The answers. Failed is a call without a verdict; in the agent, the policy's on_error then
// decides.
const (
	// Answer of all hooks.
	Abstain Answer = "abstain"
	Failed  Answer = "failed"
	// Answers of admit. Allow and Deny are also answers of connect.
	Allow Answer = "allow"
	Deny  Answer = "deny"
	Hold  Answer = "hold"
	// Answers of merge.
	Win         Answer = "win"
	KeepCurrent Answer = "keep current"
	RejectAll   Answer = "reject all"
	// Answers of filter.
	Pass  Answer = "pass"
	Drop  Answer = "drop"
	Defer Answer = "defer"
)

// Result is the answer of a policy with everything that it handed over.
type Result struct {
	Answer Answer
	// Winner is the number of the candidate that wins, if Answer is Win.
	Winner int
	// Code and Message are the reason of Deny, Hold, RejectAll, Drop and Defer. If Answer
	// is Failed, Code is the agent's code for the failure: PluginError, BadOutput or
	// InputTooLarge.
	Code, Message string
	// RetryAfter is the time of Hold and Defer, 0 if the policy named no time. (The agent
	// then defers for 60 s.)
	RetryAfter  time.Duration
	Warnings    []string
	Annotations map[string]string
	Explanation string
	// Patch is the JSON text of a patch, with Allow and Win, empty if there is none. It is
	// not checked whether the patch fits the pod and whether the policy may make it; the
	// agent checks that later.
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
