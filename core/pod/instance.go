package pod

import (
	"crypto/sha256"
	"encoding/hex"

	v1 "k8s.io/api/core/v1"
)

// Instance identifies what policy judges once: a UID, and spec, labels and
// annotations as the source gave them, without the annotations that only this
// node writes. Of a pod from the node's own sources the document as written
// counts, so that defaults a newer agent adds make no other instance of it. It
// is 32 hexadecimal digits.
func Instance(p *v1.Pod) (string, error) {
	return (*Texts)(nil).Instance(p)
}

// SameInstance reports whether policy has nothing new to say of b when it has
// judged a.
func SameInstance(a, b *v1.Pod) bool {
	if a == b {
		return true
	}
	before, err := Instance(a)
	if err != nil {
		return false
	}
	after, err := Instance(b)
	return err == nil && before == after
}

// FinalHash identifies what a pod was made from in the end: after policies
// have changed it. It is 32 hexadecimal digits.
func FinalHash(p *v1.Pod) (string, error) { return (*Texts)(nil).objectHash(p, "final") }

// Digest returns the SHA-256 of data in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
