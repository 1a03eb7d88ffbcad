// Package abi is what a plugin may read of a question, in the form of the ABI
// wardlet1 (docs/abi.md): the record of the fields that it declared, single fields,
// whole documents as JSON, and its settings.
//
// Inputs: a Request or a MergeRequest with the capabilities of the policy, and the paths
// that a plugin declares. Outputs: bytes for the plugin, with their fuel and their cost in
// addition to the fuel, and the paths that were read. Failure and its codes are here, too,
// because the package returns a Failure if a record cannot be written.
//
// A Projection compiles each path once, from the types of the Kubernetes API, so
// that a call looks at no types. A Query is the question in the form that paths
// and documents read. Nothing here changes a pod.
//
// The package starts no goroutine. A Projection and Settings are safe for
// concurrent use once all paths are declared. Query, Record, Documents and
// PathSteps belong to one call at a time.
package abi
