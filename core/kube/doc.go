// Package kube is the agent's only client of a Kubernetes API server: transport, credentials,
// requests, list and watch, and patches.
//
// Comes in: a kubeconfig (Load), and the requests of other packages. Goes out: the server's decoded
// answers, and errors that name the server and what to do (Client.Explain). Client.Follow owns the
// goroutines of its list and watch and waits for them; Close waits for the connections.
//
// # Requests
//
// A request is sent once. The caller decides whether to retry it, and reports the failure until it
// succeeds. All requests of a client share one rate limit. Answers have a maximum size. The scheme
// has only the types that the agent reads or writes, because each type adds all of its methods to
// the binary.
//
// A connection without traffic is pinged after quietTime and closed if no answer arrives within
// pingTimeout.
//
// # Credentials
//
// Token, client certificate with key, and certificate authorities are read from their files before
// every request. If a file is invalid, its last valid content stays in use. An open watch continues
// with the credentials it started with until its server ends it, 5 to 10 minutes after it started.
//
// The token is sent to the configured server only: redirects are refused.
package kube
