// Package parts makes those parts of an agent that agent.toml describes: the readers of
// sources, the engine for plugins, what a policy engine is made from.
//
// Comes in: a configuration. Goes out: parts that do nothing yet, for an agent that runs
// and for the tools that check, test and replay what it would do. The package owns no
// goroutine.
package parts
