// Command plugins builds the example plugins and writes a policy directory with them: each plugin's
// module, the policy documents of policies/ with the digests of the modules, and the tests of the
// documents.
//
// Its input is a checkout. Its output is the directory. A file is replaced by rename, and only if
// its content has changed, so that an agent may watch the directory. Other files in the directory
// stay. A plugin is written in Go or in C. The same sources, the same Go and the same clang result
// in the same bytes, wherever the checkout is. Nothing is downloaded.
//
//	go run ./tools/plugins -out build/policies
//
// It runs on one goroutine.
package main
