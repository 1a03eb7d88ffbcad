// Package hook is what the packages of the hooks (admit, merge, filter, connect) have
// in common: a plugin registers one policy, setup makes it, and each call of
// the agent asks it once.
//
// Comes in: the function that a plugin registers, and calls of the agent. Goes
// out: verdicts, which the hook's package turns into results of the ABI. It
// runs on the one goroutine of the agent's call.
package hook
