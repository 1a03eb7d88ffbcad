// Package filter answers the agent's question whether a change of a pod may go
// on to the sync loop now. A plugin that imports it has the hook "filter".
//
// Comes in: a Policy, made by the function that Register was given. Goes out:
// its Verdict, with warnings, annotations and an explanation. The policy is
// called on the one goroutine of the agent's call, once for each change, and
// again for one that was deferred.
//
// sdk.Object is the pod as it would be, sdk.OldObject what the sync loop last
// got, and package request says what changed.
package filter
