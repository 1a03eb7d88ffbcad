// Command podshape writes the shape of a Pod for the tests of the Go SDK: every struct of the Pod
// API, with its fields, their types and when they are omitted. The SDK has no dependencies. It
// contains this text (plugins/sdk/sdktest/internal/shape/pod.txt) instead of the API.
//
// Its only input is the API with which this repository is built. It writes the text to standard
// output:
//
//	go run ./tools/plugins/podshape > plugins/sdk/sdktest/internal/shape/pod.txt
//
// It runs on one goroutine. A test fails if the committed text differs from the output.
package main
