// Package manifest makes pods of manifests: it decodes YAML and JSON, sets the defaults and
// the UID of a static pod, and validates what a node can run.
//
// Comes in: the bytes of a manifest, or a pod object of an API server. Goes out: one
// api.Document for each pod and one for each fault, with its line. Decode is where a
// reader begins. The package owns no goroutine.
package manifest
