// Package pending keeps the items that wait for the answer to a question, in the order in which
// they began to wait.
//
// Input: items, the answers to their questions by ticket, and the times at which they are due.
// Output: the item that an answer belongs to, and the items that are due. An answer is ignored if
// its question was asked again since.
//
// A Queue starts no goroutine and reads no clock: its owner passes the time.
package pending
