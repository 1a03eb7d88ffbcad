// Package config defines agent.toml: its schema, its defaults, and the rules for its values.
//
// Comes in: the path of a file, and the environment's
// CONTAINER_RUNTIME_ENDPOINT. Goes out: a Config that needs no further
// checking, or every fault of the file with its line. The package owns no
// goroutine.
package config
