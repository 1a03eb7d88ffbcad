// Package parts creates the parts of an agent that agent.toml configures: the readers of sources,
// the engine for plugins, and the parts of a policy engine.
//
// Comes in: a configuration. Goes out: parts that are not running yet, for a running agent and for
// the tools that check, test and replay its decisions. The package owns no goroutine.
package parts
