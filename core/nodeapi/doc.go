// Package nodeapi serves the API that Kubernetes asks of a node, over HTTPS: health, pods, metrics, the configuration, logs of
// containers, programs run in them, their main programs and connections to pods. Health, pods and metrics are also served
// without a login, at addresses of their own.
//
// Comes in: requests of the API server and of others who may. Goes out: what the agent knows of its pods, what
// containers wrote, and connections to the runtime's streams.
// Server.Run owns the goroutines of the HTTP servers and waits for them.
// Streams serve logs, programs and connections alone, without the guard: the agent's local socket has one of its own.
//
// # Connections
//
// Each connection to a pod that is authorized and possible is a question to Connections before the runtime is asked.
//
// # Authentication and authorization
//
// A request is authenticated by a client certificate that the configured authority signed, or by a bearer token that the
// API server accepts (TokenReview); there are no anonymous requests. The API server authorizes it
// (SubjectAccessReview). Its answers are kept for a short time, so most requests cost it nothing. While it cannot be
// reached, requests without a kept answer are refused. A node of no cluster has no API server: a client certificate is the
// login, and grants every right.
package nodeapi
