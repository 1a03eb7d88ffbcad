// Package pki makes the keys and certificates that a test's API server and its clients need. They
// are valid for an hour.
//
// Its inputs are names, its outputs PEM. It owns no goroutine and writes no file.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validity is how long certificates are valid.
const validity = time.Hour

// Pair is a certificate, or a public key, and its key, as PEM.
type Pair struct{ Cert, Key []byte }

// Authority signs certificates.
type Authority struct {
	// PEM is the authority's own certificate.
	PEM  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority.
func New(name string) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	pair, cert, key, err := sign(template, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Authority{PEM: pair.Cert, cert: cert, key: key}, nil
}

// Server makes a server certificate for the IP addresses.
func (a *Authority) Server(addresses ...string) (Pair, error) {
	return a.ServerUntil(time.Now().Add(validity), addresses...)
}

// ServerUntil makes a server certificate that is valid until end.
func (a *Authority) ServerUntil(end time.Time, addresses ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotAfter: end,
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	pair, _, _, err := sign(template, a.cert, a.key)
	return pair, err
}

// Client makes a client certificate for an API server: the user is the common name, and the groups
// are the organisations.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	pair, _, _, err := sign(template, a.cert, a.key)
	return pair, err
}

// Expired makes a client certificate that expired a second ago.
func (a *Authority) Expired(user string, groups ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: time.Now().Add(-time.Second),
	}
	pair, _, _, err := sign(template, a.cert, a.key)
	return pair, err
}

// SignRequest signs a certificate request (PEM) for usages, valid until end, and returns PEM.
func (a *Authority) SignRequest(request []byte, end time.Time, usages ...x509.ExtKeyUsage) ([]byte, error) {
	block, _ := pem.Decode(request)
	if block == nil {
		return nil, errors.New("no PEM")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = asked.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: asked.Subject, DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usages,
	}
	der, err := x509.CreateCertificate(rand.Reader, is, a.cert, asked.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign a request: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// Keys makes a key pair for signing tokens.
func Keys() (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a public key: %w", err)
	}
	private, err := encodeKey(key)
	return Pair{pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), private}, err
}

// sign makes a key and a certificate for it; without a parent the certificate is self-signed.
func sign(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (Pair, *x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, nil, nil, fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, nil, nil, fmt.Errorf("make a serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Minute)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(validity)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return Pair{}, nil, nil, fmt.Errorf("sign a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, nil, nil, fmt.Errorf("read the certificate made: %w", err)
	}
	private, err := encodeKey(key)
	return Pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), private}, cert, key, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
