// Command images makes the container images that tests and the demo run, without a registry and without a builder:
// static Go binaries go in, docker archives come out.
//
//	images build -pause FILE -testbox FILE -out DIR   writes DIR/pause.tar, DIR/test.tar and DIR/images.json
//	images serve-registry -addr 127.0.0.1:0 -images DIR  serves the test image for pulls until it is signalled
//
// The same input produces the same bytes: timestamps are fixed, files are in a fixed order, and nothing of the machine is
// written. Every name of the test image has an image ID of its own, because a runtime that removes one name of an image
// ID removes them all.
//
// The registry's HTTP server runs in one goroutine, which serveRegistry starts and waits for.
package main
