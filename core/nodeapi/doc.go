// Package nodeapi serves the Kubernetes API of a node over HTTPS: health, pods, metrics, statistics,
// the configuration, logs of containers, programs run in them, their main programs and connections
// to pods. It also serves health, pods, metrics and statistics without authentication, at addresses
// of their own.
//
// Comes in: requests of the API server and other authorized clients. Goes out: the agent's data
// about its pods, the output of containers, and connections to the runtime's streams. Server.Run
// owns the goroutines of the HTTP servers and waits for them. Streams serve logs, programs and
// connections without authentication: the agent's local socket has its own.
//
// # Connections
//
// For each connection to a pod that is authorized and possible, Connections is asked before the
// runtime.
//
// # Authentication and authorization
//
// A request is authenticated by a client certificate that the configured authority signed, or by a
// bearer token that the API server accepts (TokenReview). The certificate must be valid at each
// request, not only when the connection begins. There are no anonymous requests. The API
// server authorizes the request (SubjectAccessReview). Its answers are cached for a short time, so
// most requests need no request to the API server. While the server is unreachable, requests
// without a cached answer are refused. A node without a cluster has no API server: clients
// authenticate with a certificate, which grants every right.
package nodeapi
