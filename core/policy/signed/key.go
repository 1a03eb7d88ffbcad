package signed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aead.dev/minisign"
)

const (
	// keyLength is the length of a public key's line, in characters.
	keyLength = 56
	// untrusted begins the comment above a key.
	untrusted = "untrusted comment:"
)

// PublicKey is a minisign public key. Keys can be compared with ==; the zero
// value verifies nothing.
type PublicKey struct {
	// line is the text that minisign prints, without the comment.
	line string
}

// ParseKey parses a public key: the line that "minisign -G" prints (it begins with RW), or
// the file that it writes, which has the same line below a comment. The error quotes
// nothing of the text, because it may be a secret key.
func ParseKey(text string) (PublicKey, error) {
	line, err := keyLine(text)
	if err != nil {
		return PublicKey{}, err
	}
	raw, err := base64.StdEncoding.DecodeString(line)
	switch {
	case err == nil && len(raw) == secretKeyBytes:
		return PublicKey{}, errors.New("this is a secret key, which must not be here; the public key is in the file beside it that ends in .pub")
	case err != nil, len(line) != keyLength, string(raw[:2]) != "Ed":
		return PublicKey{}, fmt.Errorf("want a minisign public key, %d characters that begin with RW; found %d that are none", keyLength, len(line))
	}
	return PublicKey{line}, nil
}

// keyLine returns the only line of a key's text, apart from a comment above it.
func keyLine(text string) (string, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 2 && strings.HasPrefix(lines[0], untrusted) {
		lines = lines[1:]
	}
	switch {
	case len(lines) == 0 || len(lines) == 1 && strings.HasPrefix(lines[0], untrusted):
		return "", errors.New("there is no key; want the line of a minisign key, with or without its comment")
	case len(lines) > 1:
		return "", fmt.Errorf("want one minisign key, with or without its comment, found %d lines", len(lines))
	}
	return lines[0], nil
}

// UnmarshalText implements encoding.TextUnmarshaler with ParseKey.
func (k *PublicKey) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.line), nil }

// String returns the line that ParseKey parses.
func (k PublicKey) String() string { return k.line }

// ID returns the key's ID as minisign shows it, in uppercase hexadecimal digits; "0" for
// the zero value.
func (k PublicKey) ID() string { return idText(k.minisign().ID()) }

// Equal reports whether both are the same key.
func (k PublicKey) Equal(other PublicKey) bool { return k == other }

func (k PublicKey) minisign() minisign.PublicKey {
	var key minisign.PublicKey
	_ = key.UnmarshalText([]byte(k.line)) // ParseKey has checked the line
	return key
}

func idText(id uint64) string { return strings.ToUpper(strconv.FormatUint(id, 16)) }
