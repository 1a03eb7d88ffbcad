// Package source says how an outside place becomes documents. Its folders
// hold the kinds: file, http and apiserver.
//
// Comes in: files, answers, watch events. Goes out: documents through a Sink.
// Every source runs on one goroutine of its own, owned by core/agent, and owns
// those it starts beside it.
package source
