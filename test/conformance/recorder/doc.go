// Package recorder is a proxy between a node agent and its API server that records what the agent asks.
//
// Comes in: an instance of a cluster. Goes out: a kubeconfig that leads through the proxy, every request, and the bytes
// on the wire. The proxy speaks HTTP/1.1 and HTTP/2, and passes on what a watch says at once. Each request goes to the
// API server with the certificate of the node.
package recorder
