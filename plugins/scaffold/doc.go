// Package scaffold makes the folder that a new policy begins with: a plugin in
// Go or C with its tests, the policy document, pods to test it with, and a copy of
// the SDK, so that it can be built and tested without a network.
//
// Comes in: a name, a language, a hook, a folder that is empty or missing. Goes
// out: its files. The SDKs are in sdk.zip, as a Go module cannot embed the files of
// another one; the test of this package says when that is not what plugins/sdk has,
// and `go generate ./plugins/scaffold` writes it anew. No goroutines.
package scaffold

//go:generate go test -run ^TestTheArchiveHoldsTheSDKs$ -update .
