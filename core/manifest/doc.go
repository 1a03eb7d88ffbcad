// Package manifest decodes manifests into pods: it reads YAML and JSON, sets the defaults and the
// UID of a static pod, and validates what a node can run.
//
// Input: the bytes of a manifest, or a pod object of an API server. Output: one api.Document for
// each pod and one for each fault, with its line. Start reading at Decode. The package starts no
// goroutine.
package manifest
