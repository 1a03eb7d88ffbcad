// Package handler carries out what probes and lifecycle hooks name: a program in a container, an HTTP request, a connection
// over TCP, a health check over gRPC.
//
// Comes in: a handler of a pod's spec, and the container that it is for. Goes out: what came of it, for people as well.
// A Runner has no goroutines of its own: each call runs on its caller's, and ends with the caller's context.
package handler
