package apiserver

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxCredential is the greatest size of a file of credentials, in bytes.
const maxCredential = 1 << 20

// credentialFiles are where credentials lie; empty paths are not used.
type credentialFiles struct{ ca, token, cert, key string }

// credentials are what the files held when all was well with them.
type credentials struct {
	ca, cert, key []byte
	token         string
	pool          *x509.CertPool
	pair          *tls.Certificate
}

// credentialError is a file that cannot be used.
type credentialError struct {
	what, file string
	err        error
}

func (e *credentialError) Error() string { return fmt.Sprintf("%s file %s: %v", e.what, e.file, e.err) }

func (e *credentialError) Unwrap() error { return e.err }

// read gives what the files hold. Of a file that cannot be used it gives what
// was read last, and an error beside it.
func (f credentialFiles) read(last credentials) (credentials, error) {
	next := last
	return next, errors.Join(f.readAuthorities(&next), f.readToken(&next), f.readPair(&next))
}

func (f credentialFiles) readAuthorities(c *credentials) error {
	if f.ca == "" {
		return nil
	}
	bad := func(err error) error { return &credentialError{"certificate authority", f.ca, err} }
	text, err := readFile(f.ca)
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

func (f credentialFiles) readToken(c *credentials) error {
	if f.token == "" {
		return nil
	}
	bad := func(err error) error { return &credentialError{"token", f.token, err} }
	text, err := readFile(f.token)
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

func (f credentialFiles) readPair(c *credentials) error {
	if f.cert == "" {
		return nil
	}
	cert, err := readFile(f.cert)
	if err != nil {
		return &credentialError{"client certificate", f.cert, err}
	}
	key, err := readFile(f.key)
	if err != nil {
		return &credentialError{"client key", f.key, err}
	}
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return &credentialError{"client certificate", f.cert, fmt.Errorf("with the key in %s: %w", f.key, err)}
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

// sameConnection reports whether a connection made with one may be used with
// the other.
func (c *credentials) sameConnection(o *credentials) bool {
	return bytes.Equal(c.ca, o.ca) && bytes.Equal(c.cert, o.cert) && bytes.Equal(c.key, o.key)
}

func (c *credentials) tls() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.pool}
	if c.pair != nil {
		// Given whatever authorities the server names: it knows best.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.pair, nil }
	}
	return config
}
