// Package abi plays the conformance set of the ABI, which lies in
// plugins/sdk/conformance, against this agent's host, and the conformance
// guests of the SDKs against the set. It has tests only.
//
// Comes in: cases.json, the modules in WAT, which wat2wasm assembles, docs/abi.md,
// whose tables say what must be covered, and the guests, which are built here.
// Goes out: failed tests, or with -update what came out, written into
// cases.json. What a case decides is never rewritten: a host that answers
// otherwise is wrong, or the case is, and a person has to say which.
//
// The tests own all goroutines, which end with them.
package abi
