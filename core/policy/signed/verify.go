package signed

import (
	"errors"
	"fmt"
	"strings"

	"aead.dev/minisign"

	"github.com/wardlet/wardlet/core/printable"
)

const (
	// MaxSignature is the greatest length of a signature's text, in bytes.
	MaxSignature = 16 << 10
	// maxComment is how many bytes of a trusted comment are shown.
	maxComment = 200
)

// Verify checks that one of the trusted keys signed the text, and returns the key's ID.
// Otherwise the error says why not: there is no signature, it is malformed, its key is not
// trusted, or it is the signature of another text.
func Verify(text, signature []byte, keys []PublicKey) (id string, err error) {
	id, _, err = VerifyComment(text, signature, keys)
	return id, err
}

// VerifyComment does what Verify does. It also returns the trusted comment, which is part
// of the signed data, as one line.
func VerifyComment(text, signature []byte, keys []PublicKey) (id, comment string, err error) {
	switch {
	case len(signature) == 0:
		return "", "", errors.New(`there is no signature; sign the set with "wardlet policy sign"`)
	case len(signature) > MaxSignature:
		return "", "", fmt.Errorf("the signature is malformed: %d bytes long, more than the %d it may have; sign the set anew", len(signature), MaxSignature)
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "", "", fmt.Errorf("the signature is malformed: %s; sign the set anew", printable.Short(err.Error(), maxComment))
	}
	id = idText(s.KeyID)
	trusted := false
	for _, k := range keys {
		key := k.minisign()
		if k == (PublicKey{}) || key.ID() != s.KeyID {
			continue
		}
		trusted = true
		if minisign.Verify(key, text, signature) {
			return id, printable.Short(strings.ReplaceAll(s.TrustedComment, "\t", " "), maxComment), nil
		}
	}
	if trusted {
		return "", "", fmt.Errorf("the signature names the key %s, but that key did not sign this text: the text or the signature was changed; put back what was signed, or sign the set anew", id)
	}
	return "", "", fmt.Errorf("the signature is one of the key %s, which is not trusted (trusted: %s); sign the set with a key that is", id, ids(keys))
}

func ids(keys []PublicKey) string {
	if len(keys) == 0 {
		return "no key"
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.ID()
	}
	return strings.Join(names, ", ")
}
