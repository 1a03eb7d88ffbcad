// Package criconfig says, in the words of the CRI, what the sandboxes and containers of pods are made with.
//
// Comes in: a run of a sandbox or container, as a worker wants it; what all pods of the node have in common, once
// (Config). Goes out: the sandbox's or container's configuration, with notices for the pod's owner where it is not all
// that the pod asks for; and what is read back from a runtime of what was made, by the same names.
//
// The package makes no call and writes no file. It reads the node's resolv.conf for a sandbox, and asks its caller
// which user an image runs as and for the API objects that variables take their values from. It owns no goroutine; all methods are safe for concurrent use. core/runtime makes
// the calls.
package criconfig
