package http

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"
)

// authority issues certificates for the servers and clients of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// file is the file of the authority's own certificate. pool has the same certificate.
	file string
	pool *x509.CertPool
	// issued is the time from which new certificates are valid, for one day.
	issued time.Time
	host   net.IP
	// reuse is the key for new certificates; if it is nil, each certificate gets a new key.
	reuse *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{
		issued: time.Now().Add(-time.Hour), host: net.IPv4(127, 0, 0, 1),
		file: filepath.Join(t.TempDir(), "ca"), pool: x509.NewCertPool(),
	}
	text, _ := a.issue(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	file(t, a.file, text)
	a.pool.AddCert(a.cert)
	return a
}

// issue returns a new certificate and its key, as PEM. The first one is the authority's own.
func (a *authority) issue(t *testing.T, template *x509.Certificate) (cert, key string) {
	t.Helper()
	private := a.reuse
	if private == nil {
		var err error
		if private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: "wardlet test " + template.SerialNumber.String()}
	template.NotBefore, template.NotAfter = a.issued, a.issued.Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, private.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
		a.key = private
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}))
}

// serve returns a function that starts a server with a certificate of this authority.
func (a *authority) serve(t *testing.T, change func(*tls.Config)) func(*httptest.Server) {
	t.Helper()
	cert, key := a.issue(t, &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{a.host},
	})
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return func(s *httptest.Server) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
		if change != nil {
			change(s.TLS)
		}
		s.StartTLS()
	}
}

// asks makes a server request a client certificate. demands makes it require one of this
// authority.
func (a *authority) asks(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequestClientCert, a.pool }

func (a *authority) demands(c *tls.Config) {
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, a.pool
}

// client writes files with a new client certificate and its key.
func (a *authority) client(t *testing.T) (cert, key string) {
	t.Helper()
	certText, keyText := a.issue(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return place(t, "cert", certText), place(t, "key", keyText)
}
