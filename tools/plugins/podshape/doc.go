// Command podshape writes the shape of a Pod for the Go SDK's tests: every
// struct of the Pod API with its fields, their types and when they are left
// out. The SDK has no dependencies, so it carries this text instead of the API
// (plugins/sdk/sdktest/internal/shape/pod.txt).
//
// Comes in: nothing but the API this repository is built with. Goes out: the
// text, on standard output:
//
//	go run ./tools/plugins/podshape > plugins/sdk/sdktest/internal/shape/pod.txt
//
// It runs on one goroutine. A test fails when the committed text is not what
// it would write.
package main
