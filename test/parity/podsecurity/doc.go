// Package podsecurity compares the example plugin pod-security with Kubernetes' own Pod Security
// Admission, of the version that go.mod names.
//
// Comes in: every pod with which upstream tests itself, for each level and version, and random pods
// made of their parts. Each pod goes to upstream's evaluator and, through the agent's sandbox, to
// the plugin as it is built. If the agent's decoder accepts the pod, the plugin also gets the
// decoded pod. Goes out: only a verdict. Both must agree whether the pod is allowed and which
// checks it violates; there are no differences.
package podsecurity
