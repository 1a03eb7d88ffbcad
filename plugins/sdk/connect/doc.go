// Package connect answers the agent's question whether a user may exec, attach or forward a
// port to a running pod. A plugin that imports it has the hook "connect".
//
// Comes in: a Policy, made by the function that was passed to Register. Goes out: its
// Verdict, with warnings, annotations and an explanation. The policy is called on the one
// goroutine of the agent's call, once for each connection.
//
// sdk.Object declares fields of the running pod. Kind, Container, Command, User and other
// functions of this package declare fields of the requested connection and its user.
package connect
