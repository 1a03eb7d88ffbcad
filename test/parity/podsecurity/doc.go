// Package podsecurity compares the example plugin pod-security with Kubernetes'
// own Pod Security Admission, of the version that go.mod names.
//
// Comes in: every pod that upstream tests itself with, for each level and
// version, and random pods made of their parts. Each goes to upstream's
// evaluator and, through the sandbox of the agent, to the plugin as it is built;
// where the agent's decoder takes the pod, also as the decoder hands it over.
// Goes out: nothing but a verdict. Whether the pod is allowed must be the same,
// and so must be the checks that it violates; there are no differences.
package podsecurity
