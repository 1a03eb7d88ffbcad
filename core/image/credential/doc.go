// Package credential finds the node's credentials for images.
//
// Input: a registry configuration file (config.json), a configuration of credential provider
// plugins with their programs, and the name of an image. Output: credentials, most specific first,
// and which of their sources failed.
//
// The files are read again for every image. If a file cannot be read or used, its last usable
// content stays in force. Patterns match as in a kubelet. Plugins are programs that run for at most
// a minute, on the goroutine of the caller; each answer is cached for the time that it specifies.
// The package owns no goroutine but those of os/exec, which return when the program exits. All
// methods are safe for concurrent use.
package credential
