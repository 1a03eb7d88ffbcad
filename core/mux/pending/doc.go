// Package pending keeps what waits for the answer to a question, in the order in which it
// began to wait.
//
// Comes in: items, the answers to their questions by ticket, and the times at which they
// are due. Goes out: which item an answer is for, and which items are due. An answer to a
// question that was asked again since is for none.
//
// A Queue has no goroutine, and does not know the time: its owner says what time it is.
package pending
