// Package kube is the agent's one client of a Kubernetes API server: transport, credentials, requests, list and
// watch, and patches.
//
// Comes in: a kubeconfig (Load), and the requests of other packages. Goes out: what the server answers, decoded, and
// errors that say which server they are about and what to do (Client.Explain).
// Client.Follow owns the goroutines of its list and watch and waits for them; Close waits for the connections.
//
// # Requests
//
// A request is sent once: the caller decides whether to send it again, and shows meanwhile that it did not
// succeed. All requests of a client share one rate limit. Answers are
// bounded.
// The types of the scheme are those that the agent reads or writes: each type costs the binary all of its methods.
//
// A connection that nothing comes from is asked for a sign of life after quietTime and given up pingTimeout later.
//
// # Credentials
//
// Token, client certificate with key, and certificate authorities are read from their files before every request.
// What cannot be read or used is left aside for what was read last. A watch that is open goes on with the
// credentials it began with until its server ends it, 5 to 10 minutes after it began.
//
// The token is sent to the configured server only: redirects are refused.
package kube
