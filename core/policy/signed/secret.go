package signed

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"aead.dev/minisign"
)

// secretKeyBytes is the size of a secret key, decoded.
const secretKeyBytes = 158

// SecretKey signs sets.
type SecretKey struct{ key minisign.PrivateKey }

// GenerateKey makes a key from the bytes that random returns, or from those of the system
// if random is nil.
func GenerateKey(random io.Reader) (*SecretKey, error) {
	_, key, err := minisign.GenerateKey(random)
	if err != nil {
		return nil, err
	}
	return &SecretKey{key}, nil
}

// ParseSecretKey parses the text of a secret key's file, as "minisign -G" writes it. It
// calls password if the key is encrypted. Decrypting takes some seconds and up to 1 GiB of
// memory. No error quotes the text.
func ParseSecretKey(text []byte, password func() (string, error)) (*SecretKey, error) {
	line, err := keyLine(string(text))
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(line)
	switch {
	case err == nil && len(line) == keyLength:
		return nil, errors.New("this is a public key; sets are signed with the secret one")
	case err != nil, len(raw) != secretKeyBytes:
		return nil, fmt.Errorf("want a minisign secret key, found %d characters that are none", len(line))
	}
	var key minisign.PrivateKey
	if !minisign.IsEncrypted([]byte(line)) {
		if err := key.UnmarshalText([]byte(line)); err != nil {
			return nil, fmt.Errorf("the secret key is damaged: %w", err)
		}
		return &SecretKey{key}, nil
	}
	secret, err := password()
	if err != nil {
		return nil, err
	}
	if key, err = minisign.DecryptKey(secret, []byte(line)); err != nil {
		return nil, errors.New("the secret key cannot be decrypted: the password is another one, or the file is damaged")
	}
	return &SecretKey{key}, nil
}

// Public returns the public key that verifies signatures of this key.
func (k *SecretKey) Public() PublicKey {
	key, _ := k.key.Public().(minisign.PublicKey) // it always has this type
	return PublicKey{key.String()}
}

// MarshalText returns the text of a secret key's file, not encrypted.
func (k *SecretKey) MarshalText() ([]byte, error) {
	text, err := k.key.MarshalText()
	return append(text, '\n'), err
}

// sign signs a text, prehashed. The comment is signed too.
func (k *SecretKey) sign(text []byte, comment string) ([]byte, error) {
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	signature := r.SignWithComments(k.key, comment, "signature from the secret key "+k.Public().ID())
	if _, err := Verify(text, signature, []PublicKey{k.Public()}); err != nil {
		return nil, errors.New("the secret key is damaged: what it signs does not verify; use a copy of it, or another key")
	}
	return signature, nil
}
