// Package http is the source that asks a server for a manifest.
//
// Comes in: answers to GET requests for one URL. Goes out: one document per
// pod, and bad documents with URL and line, through a source.Sink. Run is one
// goroutine; the connections that its requests need end with it.
//
// # When it asks
//
// At once, then every Config.Period; after a failure a second later, then in
// steps that double up to the period (at least 20 s), with jitter, so that a
// server that comes back is not asked by all its nodes at the same moment.
// Files of headers, authorities and certificates are read anew for every
// request.
//
// The environment's proxy is used (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). At most
// five redirects are followed, to http and https only, never from https to
// http. Another host, port or scheme than the URL's own gets neither the
// configured headers nor the client certificate.
//
// # What counts as an answer
//
// Status 200 with a body of at most pod.MaxManifest bytes (after
// decompression) whose end is known: over HTTP/1 it needs a length, chunks or
// a compression, for else a connection that broke looks like an end. And 304,
// where the request had the validators of what was delivered last. These
// answers are errors of the source, told through Health; what was delivered
// stays in force, and a source that has nothing else is never seen:
//
//   - no answer, a late one, another status, one that is too large or cut off;
//   - one that is empty or all comment, and a web page, such as the login page
//     of a captive portal. No pods are an empty PodList;
//   - one in which not a single document is known to be a Pod or a list.
//
// # What is delivered
//
// An answer in which all documents are known is a snapshot (Replace), whether
// or not some of them are bad: the bad ones keep their last valid version, what
// is not named is gone. Two answers say too little for that and are handed over
// as a difference in which nothing is gone (Apply, with a document whose ID ends
// in pod.HoldSuffix): one of bad pods only, and one with a document that does not
// say which pod it is. They end nothing, and do not make the source seen; as long
// as none has, Health says so.
//
// A body that is the one delivered last, byte for byte, is neither decoded nor
// delivered again. That it holds bad documents is logged at every reading all
// the same: three times as a warning, then at level debug.
package http
