// Package api is what the parts of the agent say to each other about pods, and what
// leaves the process: documents as sources read them, changes as the mux emits them,
// questions and verdicts of policies, the states that `wardlet get` shows.
//
// Comes in and goes out: values, which are not changed once they are handed on. The
// package owns no goroutine. Of core it imports core/pod only.
package api
