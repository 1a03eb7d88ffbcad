// Package abi plays the conformance set of the ABI, which lies in plugins/sdk/conformance, against
// this agent's host, and the conformance guests of the SDKs against the set. It has only tests.
//
// Comes in: cases.json; the modules in WAT, which wat2wasm assembles; docs/abi.md, whose tables say
// what must be covered; and the guests, which are built here. Goes out: failed tests, or with
// -update the texts and the fuel of this host, written into cases.json. The decision of a case is
// never rewritten: if a host answers differently, the host or the case is wrong, and a person must
// decide which.
//
// The tests own all goroutines, which end with them.
package abi
