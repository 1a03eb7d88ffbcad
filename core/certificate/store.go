package certificate

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/state/durable"
)

// The names of certificates. The first two are those of a kubelet's. A kubelet has its self-signed
// certificate elsewhere, and would take one with the name of ServingName for its cluster's.
const (
	ClientName     = "kubelet-client"
	ServingName    = "kubelet-server"
	SelfSignedName = "wardlet-server"
)

// Store is a certificate with its key in a directory. Each version is a file NAME-TIME.pem, with the
// certificate before the key, and NAME-current.pem is a link to the newest.
type Store struct {
	// Dir is absolute. It is made when the first file is written, for its owner only.
	Dir string
	// Name is the begin of the names of files.
	Name string
}

// Current returns the path of the newest certificate and key.
func (s Store) Current() string { return filepath.Join(s.Dir, s.Name+"-current.pem") }

// Exists reports whether there is a certificate.
func (s Store) Exists() bool {
	_, err := os.Stat(s.Current())
	return err == nil
}

// Read returns the newest certificate; the error is fs.ErrNotExist if there is none yet.
func (s Store) Read() (*x509.Certificate, error) {
	text, err := os.ReadFile(s.Current())
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", s.Current(), err)
	}
	return pair.Leaf, nil
}

// Write stores a new version: certificate and key, both PEM. It does not check them.
func (s Store) Write(certificate, key []byte, now time.Time) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s.pem", s.Name, now.UTC().Format("2006-01-02-15-04-05"))
	text := append(append(bytes.TrimRight(certificate, "\n"), '\n'), key...)
	if err := durable.WriteFile(s.Dir, name, text); err != nil {
		return err
	}
	return durable.Link(filepath.Join(s.Dir, name), s.Current())
}

// pending is the name of the file of the key for which a certificate was requested.
func (s Store) pending() string { return s.Name + ".key.tmp" }

// pendingKey returns the key of a request without an answer, or a new one. With the same key an
// agent that restarts finds its request again, instead of adding one.
func (s Store) pendingKey() (crypto.Signer, []byte, error) {
	if text, err := os.ReadFile(filepath.Join(s.Dir, s.pending())); err == nil {
		if key, err := parseKey(text); err == nil {
			return key, text, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, nil, err
	}
	return key, text, durable.WriteFile(s.Dir, s.pending(), text)
}

// dropPending forgets the key of a request that was answered.
func (s Store) dropPending() error { return durable.Remove(durable.OS{}, s.Dir, s.pending()) }

func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM")
	}
	return x509.ParseECPrivateKey(block.Bytes)
}
