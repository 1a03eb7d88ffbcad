// Package nodeapi serves the API that Kubernetes asks of a node, over HTTPS: health, pods, logs of containers and
// programs run in them.
//
// Comes in: requests of the API server and of others who may. Goes out: what the agent knows of its pods, what
// containers wrote, and connections to the runtime's streams.
// Server.Run owns the goroutines of the HTTP server and waits for them.
//
// # Who may
//
// Every request says who it is from: by a client certificate that the configured authority has signed, or by a bearer
// token that the API server knows (TokenReview). Nobody is anonymous. The API server then says whether they may
// (SubjectAccessReview); its answers are kept for a short time, so that a request costs it nothing in most cases. While
// it cannot be asked nobody may.
package nodeapi
