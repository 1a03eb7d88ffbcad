package certificate

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// selfSignedLife is the life of a certificate of SelfSigned, as with a kubelet. It begins clockSlack
// early, for clients whose clocks are slow.
const (
	selfSignedLife = 365 * 24 * time.Hour
	clockSlack     = time.Hour
)

// SelfSigned signs serving certificates with their own keys. Clients that verify certificates do not
// accept them. An API server verifies those of nodes only with --kubelet-certificate-authority.
type SelfSigned struct{ Now func() time.Time }

// Sign implements Signer.
func (s SelfSigned) Sign(_ context.Context, key crypto.Signer, t *Template, _ func() bool) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	is := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: t.User, Organization: t.Groups}, DNSNames: t.Names, IPAddresses: t.Addresses,
		NotBefore: s.Now().Add(-clockSlack), NotAfter: s.Now().Add(selfSignedLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
