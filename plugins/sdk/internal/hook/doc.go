// Package hook has the code that the packages of the hooks (admit, merge, filter, connect)
// share: a plugin registers one setup for a hook, the setup returns the policy, and each
// call of the agent calls the policy once.
//
// Comes in: the function that a plugin registers, and calls of the agent. Goes
// out: verdicts, which the hook's package turns into results of the ABI. It
// runs on the one goroutine of the agent's call.
package hook
