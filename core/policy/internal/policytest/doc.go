// Package policytest contains what the tests of several packages below core/policy share:
// directories of policies (Tree), plugins whose modules are texts (Scripts), pods and
// questions about them, and logs that can be read.
//
// It writes files below the test's own directory, and records the calls of plugins. It
// starts no goroutine.
package policytest
