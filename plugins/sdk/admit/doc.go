// Package admit answers the agent's question whether a pod may run. A plugin
// that imports it has the hook "admit".
//
// Comes in: a Policy, made by the function that was passed to Register. Goes out: its
// Verdict, with warnings, annotations and an explanation. The policy is called on the one
// goroutine of the agent's call, once for each pod, and again for each change of a running
// pod.
package admit
