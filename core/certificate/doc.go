// Package certificate keeps the node's own certificates valid: the one that it shows to the API
// server, and the one that it serves its API with.
//
// Comes in: what a certificate has to say, and who signs it: the API server's cluster, with a
// CertificateSigningRequest, or the node itself. Goes out: files in a directory, with the names and
// formats of a kubelet's, so that a kubelet and the agent continue with each other's certificates.
// Readers read the files again; nothing else is passed on.
//
// Each Keeper runs in one goroutine, which its caller starts and which alone writes its files.
package certificate
