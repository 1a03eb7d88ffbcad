package nodeapi

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// ReadFiles reads the files for a Server, all PEM, and returns its certificate. The error says
// which file is invalid.
func ReadFiles(certFile, keyFile, clientCAFile string) (*x509.Certificate, error) {
	c, err := (&keyPair{cert: certFile, key: keyFile, ca: clientCAFile}).read()
	if err != nil {
		return nil, err
	}
	return c.Certificates[0].Leaf, nil
}

// Validity returns why a certificate is not valid at now, nil if it is valid.
func Validity(cert *x509.Certificate, now time.Time) error {
	switch {
	case now.After(cert.NotAfter):
		return fmt.Errorf("expired at %s; renew it", cert.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(cert.NotBefore):
		return fmt.Errorf("not valid before %s; check the clock of this node", cert.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// keyPair has the server's certificate, and the authorities of clients. The files are read for each
// connection and each request with a certificate, of which there are few. If the files are invalid,
// the last valid content stays in use.
type keyPair struct {
	cert, key, ca string
	log           *slog.Logger
	now           func() time.Time

	mu    sync.Mutex
	texts [3][]byte
	last  *tls.Config
	// unread is why the current files are not used. invalid is why clients that verify the certificate
	// in use refuse it.
	unread, invalid fault
}

// config returns the TLS configuration for a client.
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
	k.note(err)
	return k.last, nil
}

// authorities returns those of clients.
func (k *keyPair) authorities() (*x509.CertPool, error) {
	c, err := k.config(nil)
	if err != nil {
		return nil, err
	}
	return c.ClientCAs, nil
}

// note logs each new reason why the files cannot be used, and that they can be used again.
func (k *keyPair) note(err error) {
	switch begins, ends := k.unread.take(err); {
	case begins:
		k.log.Warn("files of the node's API cannot be used; those read before are", "err", err)
	case ends:
		k.log.Info("files of the node's API can be used again")
	}
	err = Validity(k.last.Certificates[0].Leaf, k.now())
	if err != nil {
		err = fmt.Errorf("certificate %s: %w", k.cert, err)
	}
	switch begins, ends := k.invalid.take(err); {
	case begins:
		k.log.Warn("the certificate of the node's API is not valid", "err", err)
	case ends:
		k.log.Info("the certificate of the node's API is valid again")
	}
}

// fault is the reason for a failure; the zero value means no failure.
type fault struct{ reason string }

// take records the result of a check. It reports whether a new reason begins, or the last one ends.
func (f *fault) take(err error) (begins, ends bool) {
	was := f.reason
	f.reason = ""
	if err != nil {
		f.reason = err.Error()
	}
	return err != nil && f.reason != was, err == nil && was != ""
}

func (k *keyPair) read() (*tls.Config, error) {
	var texts [3][]byte
	for i, file := range []struct{ what, path string }{{"certificate", k.cert}, {"key", k.key}, {"client authority", k.ca}} {
		text, err := os.ReadFile(file.path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.what, err)
		}
		texts[i] = text
	}
	if k.last != nil && bytes.Equal(texts[0], k.texts[0]) && bytes.Equal(texts[1], k.texts[1]) && bytes.Equal(texts[2], k.texts[2]) {
		return k.last, nil
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, fmt.Errorf("certificate %s with the key %s: %w; write both anew, as PEM", k.cert, k.key, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(texts[2]) {
		return nil, fmt.Errorf("client authority %s: no certificate in it; write them as PEM", k.ca)
	}
	k.texts = texts
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		// A client without a certificate of the authority may have a token; the authenticator verifies both.
		ClientAuth: tls.RequestClientCert,
		NextProtos: []string{"http/1.1"},
	}, nil
}
