// Package scaffold makes the folder that a new policy begins with: a plugin in
// Go or C with its tests, the policy document, pods to test it with, and a copy of
// the SDK, so that it can be built and tested without a network.
//
// Comes in: a name, a language, a hook, a folder that is empty or missing. Goes out: the
// files of that folder. The SDKs are in sdk.zip, because a Go module cannot embed the files
// of another module. A test of this package fails if sdk.zip differs from plugins/sdk; `go
// generate ./plugins/scaffold` writes sdk.zip again. The package starts no goroutine.
package scaffold

//go:generate go test -run ^TestTheArchiveHoldsTheSDKs$ -update .
