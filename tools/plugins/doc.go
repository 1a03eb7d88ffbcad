// Command plugins builds the example plugins and makes policy directories of
// them: each plugin's module, the policy documents of policies/ with the
// modules' digests filled in, and their tests.
//
// Comes in: a checkout. Goes out: the directory, in which every file is
// replaced by rename and only when its content changed, so that an agent may
// watch it; what else lies there stays. A plugin is written in Go or in C. The
// same sources, the same Go and the same clang give the same bytes, wherever the
// checkout lies. Nothing is downloaded.
//
//	go run ./tools/plugins -out build/policies
//
// It runs on one goroutine.
package main
