package object

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Key encrypts the copies of Secrets on the disk with AES-256 in Galois/Counter Mode. It is also
// used for digests of Secrets.
type Key struct {
	aead    cipher.AEAD
	digests []byte
}

// Constants for making a key.
const (
	// MinKeyFile and MaxKeyFile limit the size of a key file, in bytes.
	MinKeyFile = 32
	MaxKeyFile = 4096
	// The purposes separate the uses of a key file.
	keyPurpose    = "wardlet: copies of secrets"
	digestPurpose = "wardlet: digests of secrets"
)

// errKeySize is the error of a file that is too short or too long for a key.
var errKeySize = fmt.Errorf("a key file has %d to %d random bytes", MinKeyFile, MaxKeyFile)

// NewKey returns the key that is derived from the content of a key file.
func NewKey(content []byte) (*Key, error) {
	if len(content) < MinKeyFile || len(content) > MaxKeyFile {
		return nil, fmt.Errorf("it has %d bytes; %w", len(content), errKeySize)
	}
	secret, err := hkdf.Key(sha256.New, content, nil, keyPurpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	digests, err := hkdf.Key(sha256.New, content, nil, digestPurpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Key{aead, digests}, err
}

// seal encrypts a text. Only open with the same name can decrypt it.
func (k *Key) seal(name string, text []byte) []byte { return k.aead.Seal(nil, nil, text, []byte(name)) }

var errOtherKey = errors.New("it was encrypted with another key, or is damaged")

func (k *Key) open(name string, sealed []byte) ([]byte, error) {
	text, err := k.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return nil, errOtherKey
	}
	return text, nil
}

// KeyCredential is the name of the systemd credential that has the key (LoadCredential=,
// LoadCredentialEncrypted=).
const KeyCredential = "wardlet.objects-key"

// KeyPlaces are the possible paths of a key.
type KeyPlaces struct {
	// File is the path that the operator configured, empty for none.
	File string
	// Credentials is the directory of the service's credentials, empty for none.
	Credentials string
	// Generated is the path at which a key is made if there is none at the other paths.
	Generated string
}

// KeyPlace is the path of a key.
type KeyPlace struct {
	Path string
	// Credential: the service manager guards the key.
	Credential bool
	// Generated: the key is on the same disk as the copies that it encrypts.
	Generated bool
}

// Place returns the path of the key, or the path at which it is to be made.
func (p KeyPlaces) Place() KeyPlace {
	if p.File != "" {
		return KeyPlace{Path: p.File}
	}
	if p.Credentials != "" {
		path := filepath.Join(p.Credentials, KeyCredential)
		if _, err := os.Stat(path); err == nil {
			return KeyPlace{Path: path, Credential: true}
		}
	}
	return KeyPlace{Path: p.Generated, Generated: true}
}

// Load reads the key. It makes a new generated key if that is missing or was torn by a crash: objects
// whose copies were encrypted with another key are read again.
func (p KeyPlaces) Load() (*Key, error) {
	at := p.Place()
	key, err := at.Read()
	if at.Generated && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errKeySize)) {
		if err := generate(at.Path); err != nil {
			return nil, fmt.Errorf("key of Secrets on the disk %s: %w", at.Path, err)
		}
		key, err = at.Read()
	}
	if err != nil {
		return nil, fmt.Errorf("key of Secrets on the disk %s: %w", at.Path, err)
	}
	return key, nil
}

// Read reads the key from its path. It refuses a file that others may read.
func (at KeyPlace) Read() (*Key, error) {
	info, err := os.Stat(at.Path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Mode().Perm()&0o077 != 0 && !at.Credential:
		return nil, fmt.Errorf("it has mode %04o: others than its owner may read it; run chmod 600 on it", info.Mode().Perm())
	case info.Size() > MaxKeyFile:
		return nil, fmt.Errorf("it has %d bytes; %w", info.Size(), errKeySize)
	}
	content, err := os.ReadFile(at.Path)
	if err != nil {
		return nil, err
	}
	return NewKey(content)
}

// generate writes a random key atomically.
func generate(path string) error {
	content := make([]byte, MinKeyFile)
	rand.Read(content) // never fails
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
