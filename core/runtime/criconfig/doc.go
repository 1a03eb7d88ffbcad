// Package criconfig makes the CRI configurations of the sandboxes and containers of pods.
//
// Input: the settings that all pods of the node share, once (Config), and then each sandbox or
// container that a worker runs. Output: the configuration of the sandbox or container, with notices
// for the pod's owner if it does not contain all that the pod asks for. The package also reads
// back, by the same names, what a runtime reports about such objects.
//
// The package makes no CRI call and writes no file. It reads the node's resolv.conf for a sandbox.
// Through functions of its caller it looks up the user of an image and the API objects for
// variables. It owns no goroutine; all methods are safe for concurrent use. core/runtime makes the
// calls.
package criconfig
