// Package e2e tests whole parts against real ones: it starts private container runtimes and
// observes containers, files and answers. Every test starts what it needs and asserts that
// nothing of it is left.
//
// The tests are behind the build tag e2e and need root; without root they fail instead of being
// skipped. Tests own all goroutines, and wait for them before they return.
package e2e
