// Package signed makes and verifies signed policy sets. Such a set is a
// directory of policies with two more files: set.toml, the manifest, has a
// revision and the SHA-256 of every document, module and test pod; the other,
// set.toml.minisig, is a minisign signature of it.
//
// Comes in: the text of both files, the digests of what was read of the set,
// and the keys that agent.toml trusts. Goes out: the manifest, who signed it,
// or every reason why the set is not the one that was signed. For the signer:
// the two files.
//
// Nothing in the directory can name or relax a key: all of it may come from a
// stranger, so sizes and counts are bounded and what is quoted of it is made
// printable. Which revision was accepted last is for the caller to know.
//
// The package owns no goroutine, and keeps nothing.
package signed
