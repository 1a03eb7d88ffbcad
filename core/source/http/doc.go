// Package http is the source that requests a manifest from a server.
//
// Input: answers to GET requests for one URL. Output: one document per pod, and bad documents with
// URL and line, through a source.Sink. Run is one goroutine; the connections of its requests are
// closed when it returns.
//
// # When it asks
//
// The first request is sent at once, the next ones every Config.Period. After a failure the next
// request follows a second later, then in steps that double up to the period (at least 20 s). The
// steps have jitter, so that not all nodes request at the same moment when a server comes back.
// Files of headers, authorities and certificates are read again for every request.
//
// The proxy of the environment is used (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). At most five redirects
// are followed, to http and https only, never from https to http. The configured headers and the
// client certificate are sent only to the scheme, host and port of the URL.
//
// # What counts as an answer
//
// An answer is status 200 with a body of at most manifest.MaxManifest bytes (after decompression)
// whose end is known. Over HTTP/1 the body needs a length, chunks or a compression: otherwise a
// broken connection looks like the end. Status 304 is an answer, too, if the request had the
// validators of the last delivery. The following are errors of the source and are reported through
// Health. The last delivery then stays in force, and a source without a delivery is not seen:
//
//   - no answer, a late one, another status, or one that is too large or cut off;
//   - one that is empty or has only comments, or a web page, such as the login page of a captive
//     portal. For no pods the server must send an empty PodList;
//   - one in which no document is known to be a Pod or a list.
//
// # What is delivered
//
// An answer in which all documents are known is a snapshot (Replace), even if some of them are bad:
// the bad ones keep their last valid version, and documents that are not in the answer are removed.
// Two kinds of answers are incomplete: one with only bad pods, and one with a document that does
// not say which pod it is. They are delivered as a difference without removals (Apply, with a
// document whose ID ends in api.HoldSuffix). They terminate no pod, and the source is not seen
// because of them. Until there is a snapshot, Health reports that.
//
// A body that is identical to the last delivered one is neither decoded nor delivered again. If it
// has bad documents, every reading still logs them: three times as a warning, then at level debug.
package http
