// Package parity compares Wardlet with the kubelet of Kubernetes v1.36.3: both
// get the same input, and what they make of it must be the same but for the
// differences that docs/differences.md lists. It is a module of its own, so
// that the product does not depend on k8s.io/kubernetes.
package parity
