// Package source defines how an external place is read as documents. Its folders hold the kinds of
// sources: file, http and apiserver.
//
// Input: files, HTTP answers, watch events. Output: documents through a Sink. Every source runs on
// one goroutine of its own, which core/agent owns. A source owns the goroutines that it starts.
package source
