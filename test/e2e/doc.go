// Package e2e tests whole parts against real ones: private container runtimes in, observed containers, files and answers
// out. Every test starts what it needs and asserts that nothing of it is left.
//
// The tests are behind the build tag e2e and need root; without root they fail rather than skip. Tests own all
// goroutines, and wait for them before they return.
package e2e
