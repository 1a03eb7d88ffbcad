// Package connect answers the agent's question whether a user may exec, attach
// or forward a port to a pod that runs. A plugin that imports it has the hook
// "connect".
//
// Comes in: a Policy, made by the function that Register was given. Goes out:
// its Verdict, with warnings, annotations and an explanation. The policy is
// called on the one goroutine of the agent's call, once for each connection.
//
// sdk.Object is the pod as it runs; Kind, Container, Command, User and the
// others of this package say what is requested and by whom.
package connect
