// Package policytest has what the tests of several packages below core/policy need:
// directories of policies (Tree), plugins whose modules are texts (Scripts), pods and
// questions about them, and logs that can be read.
//
// Comes in: what a test wants in a directory, or a plugin to answer. Goes out: files
// below the test's own directory; answers, and which calls were made. It starts no
// goroutine.
package policytest
