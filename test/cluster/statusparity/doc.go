// Package statusparity tests that Wardlet writes the same statuses of pods to the API server as a
// kubelet does. Lives of pods, made from a seed, are played with both as the node, on one runtime.
// What each writes is recorded and compared.
//
// Each allowed difference is a rule of rules_test.go with its line in docs/differences.md. A rule
// that never applies in three hundred lives fails the test. -lives sets how many lives there are.
package statusparity
