// Package signed makes and verifies signed policy sets. Such a set is a directory of
// policies with two more files. The manifest, set.toml, has a revision and the SHA-256 of
// every document, module and test pod. The signature, set.toml.minisig, is a minisign
// signature of the manifest.
//
// Comes in: the text of both files, the digests of what was read of the set, and the keys
// that agent.toml trusts. Goes out: the manifest, the key that signed it, or every reason
// why the set is not the one that was signed; for the signer, the two files.
//
// Nothing in the directory can add a trusted key or relax its use. All files in it may come
// from a stranger, so sizes and counts are bounded and quoted text is made printable. The
// caller keeps the revision that was accepted last.
//
// The package starts no goroutine and has no state.
package signed
