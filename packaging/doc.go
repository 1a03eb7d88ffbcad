// Package packaging holds what an installation consists of beside the binary, and
// tests that it fits the agent.
package packaging
