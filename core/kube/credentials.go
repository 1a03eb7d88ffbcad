package kube

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxCredential is the maximum size of a credential file, in bytes.
const maxCredential = 1 << 20

// Material is one credential: a file that holds it, or the credential itself. The zero value is none.
type Material struct{ File, Data string }

func (m Material) given() bool { return m != Material{} }

// place names the location of the credential for errors.
func (m Material) place() string {
	if m.File == "" {
		return "in the kubeconfig"
	}
	return "file " + m.File
}

func (m Material) read() ([]byte, error) {
	if m.File == "" {
		return []byte(m.Data), nil
	}
	return readFile(m.File)
}

// Credentials are a client's credentials for an API server, and the authorities that must sign the
// server's certificate.
type Credentials struct {
	// CA has certificate authorities as PEM; the default is those of the system.
	CA Material
	// Token is a bearer token.
	Token Material
	// Cert and Key are a client certificate and its key as PEM, both or neither.
	Cert, Key Material
}

// Pair reads the client certificate and its key as PEM; both are nil if there is none.
func (f *Credentials) Pair() (cert, key []byte, err error) {
	if !f.Cert.given() {
		return nil, nil, nil
	}
	var have credentials
	err = f.readPair(&have)
	return have.cert, have.key, err
}

// credentials are the last valid contents of the files.
type credentials struct {
	ca, cert, key []byte
	token         string
	pool          *x509.CertPool
	pair          *tls.Certificate
}

// credentialError is a credential that cannot be used.
type credentialError struct {
	what string
	of   Material
	err  error
}

func (e *credentialError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.what, e.of.place(), e.err)
}

func (e *credentialError) Unwrap() error { return e.err }

// read returns the contents of the files. For a file that cannot be used, it returns the last valid
// content, and an error.
func (f *Credentials) read(last credentials) (credentials, error) {
	next := last
	return next, errors.Join(f.readAuthorities(&next), f.readToken(&next), f.readPair(&next))
}

func (f *Credentials) readAuthorities(c *credentials) error {
	if !f.CA.given() {
		return nil
	}
	bad := func(err error) error { return &credentialError{"certificate authority", f.CA, err} }
	text, err := f.CA.read()
	if err != nil {
		return bad(err)
	}
	if bytes.Equal(text, c.ca) {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return bad(errors.New("no certificate in it; write them as PEM"))
	}
	c.ca, c.pool = text, pool
	return nil
}

func (f *Credentials) readToken(c *credentials) error {
	if !f.Token.given() {
		return nil
	}
	bad := func(err error) error { return &credentialError{"token", f.Token, err} }
	text, err := f.Token.read()
	if err != nil {
		return bad(err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return bad(errors.New("it is empty"))
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return bad(errors.New("a token is one word of ASCII characters"))
	}
	c.token = token
	return nil
}

func (f *Credentials) readPair(c *credentials) error {
	if !f.Cert.given() {
		return nil
	}
	cert, err := f.Cert.read()
	if err != nil {
		return &credentialError{"client certificate", f.Cert, err}
	}
	key, err := f.Key.read()
	if err != nil {
		return &credentialError{"client key", f.Key, err}
	}
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return &credentialError{"client certificate", f.Cert, fmt.Errorf("with the key %s: %w", f.Key.place(), err)}
	}
	c.cert, c.key, c.pair = cert, key, &pair
	return nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxCredential {
		return nil, fmt.Errorf("not a file of at most %d bytes", maxCredential)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return text, nil
}

// sameConnection reports whether a connection made with one may be used with the other, because
// certificates and authorities are equal.
func (c *credentials) sameConnection(o *credentials) bool {
	return bytes.Equal(c.ca, o.ca) && bytes.Equal(c.cert, o.cert) && bytes.Equal(c.key, o.key)
}

func (c *credentials) tls(serverName string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.pool, ServerName: serverName}
	if c.pair != nil {
		// The client certificate is offered whatever authorities the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.pair, nil }
	}
	return config
}

// Authorities returns the SHA-256 of the public key of each certificate authority that may have signed
// the server's certificate, none for those of the system. They tell clusters apart without a request.
func (c *Client) Authorities() ([]string, error) {
	text, err := c.ca.read()
	if err != nil {
		return nil, fmt.Errorf("read the certificate authorities of %s: %w", c.server, err)
	}
	var all []string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue // it cannot have signed anything
		}
		sum := sha256.Sum256(authority.RawSubjectPublicKeyInfo)
		all = append(all, hex.EncodeToString(sum[:]))
	}
	return all, nil
}
