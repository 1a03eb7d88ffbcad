package nodeapi

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
)

// keyPair is the server's certificate, and the authorities of clients. The files are read for each connection, of which
// there are few; what cannot be used is left aside for what was read last.
type keyPair struct {
	cert, key, ca string

	mu    sync.Mutex
	texts [3][]byte
	last  *tls.Config
}

// config returns how to speak to a client.
func (k *keyPair) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next, err := k.read()
	switch {
	case err == nil:
		k.last = next
	case k.last == nil:
		return nil, err
	}
	return k.last, nil
}

func (k *keyPair) read() (*tls.Config, error) {
	var texts [3][]byte
	for i, file := range []string{k.cert, k.key, k.ca} {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	if k.last != nil && bytes.Equal(texts[0], k.texts[0]) && bytes.Equal(texts[1], k.texts[1]) && bytes.Equal(texts[2], k.texts[2]) {
		return k.last, nil
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, fmt.Errorf("certificate %s with the key %s: %w", k.cert, k.key, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(texts[2]) {
		return nil, fmt.Errorf("client authority %s: no certificate in it; write them as PEM", k.ca)
	}
	k.texts = texts
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		// A client without a certificate may have a token.
		ClientAuth: tls.VerifyClientCertIfGiven,
		NextProtos: []string{"http/1.1"},
	}, nil
}
