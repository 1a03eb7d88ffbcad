// Package question has the pod that all sides of the bench evaluate, and pods that break the rule
// in one way each.
//
// Comes in: nothing. Goes out: pods, each a copy of the caller's own. The package owns no
// goroutine.
package question
