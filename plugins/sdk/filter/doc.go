// Package filter answers the agent's question whether a change of a pod may go
// on to the sync loop now. A plugin that imports it has the hook "filter".
//
// Comes in: a Policy, made by the function that was passed to Register. Goes out: its
// Verdict, with warnings, annotations and an explanation. The policy is called on the one
// goroutine of the agent's call, once for each change, and again for one that was deferred.
//
// sdk.Object declares fields of the new version of the pod, and sdk.OldObject fields of the
// version that the sync loop has. Package request has the kinds of change.
package filter
