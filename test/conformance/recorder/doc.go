// Package recorder is a proxy between a node agent and its API server that records the agent's
// requests.
//
// Its input is an instance of a cluster. Its outputs are a kubeconfig that leads through the proxy,
// every request, and the number of bytes on the wire. The proxy speaks HTTP/1.1 and HTTP/2, and
// forwards the events of a watch at once. It sends each request to the API server with the node's
// certificate.
package recorder
