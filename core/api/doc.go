// Package api has the types that the parts of the agent exchange about pods, and that leave the
// process: documents from sources, changes from the mux, questions and verdicts of policies, and
// the states that `wardlet get` shows.
//
// Comes in and goes out: values, which must not be modified after they are passed on. The package
// owns no goroutine. Of core it imports core/pod only.
package api
