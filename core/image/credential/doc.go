// Package credential finds the node's credentials for images.
//
// Comes in: a registry configuration file (config.json), a configuration of credential provider plugins with the programs
// that it names, the name of an image. Goes out: credentials, most specific first, and which sources of them failed.
//
// The files are read anew for every image; a file that cannot be read or used leaves in force what it said before. Patterns
// match as a kubelet's do. Plugins are programs that run for a minute at most, on the goroutine of the caller; what they
// answer is cached for as long as they say. The package owns no goroutine but those of os/exec, which end with the program.
// All methods are safe for concurrent use.
package credential
