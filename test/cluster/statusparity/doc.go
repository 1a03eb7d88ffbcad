// Package statusparity has the test that the API server hears the same of pods from Wardlet as from a kubelet: lives of
// pods made from a seed are played with both as the node, on one runtime, and what each writes is recorded and compared.
//
// What may differ is a rule of rules_test.go with its line in docs/differences.md, and a rule that is never met in
// three hundred lives fails the test. -lives says how many there are.
package statusparity
