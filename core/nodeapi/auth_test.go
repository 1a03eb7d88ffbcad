package nodeapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/cluster/pki"
)

// signed makes a certificate of the template, and its key. Without a parent it signs itself.
func signed(t *testing.T, is, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	if parent == nil {
		parent, by = is, key
	}
	is.SerialNumber, is.BasicConstraintsValid = big.NewInt(1), true
	der, err := x509.CreateCertificate(rand.Reader, is, parent, key.Public(), by)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	return cert, key
}

// A certificate is verified at each request, whatever the handshake of the connection has found.
func TestAuthenticator_certificate(t *testing.T) {
	t.Parallel()
	begin := time.Now().Truncate(time.Second)
	template := func(name string, end time.Duration, authority bool, usages ...x509.ExtKeyUsage) *x509.Certificate {
		return &x509.Certificate{
			Subject: pkix.Name{CommonName: name, Organization: []string{"group"}}, NotBefore: begin, NotAfter: begin.Add(end),
			IsCA: authority, ExtKeyUsage: usages,
		}
	}
	root, rootKey := signed(t, template("root", 10*time.Hour, true), nil, nil)
	other, _ := signed(t, template("other", 10*time.Hour, true), nil, nil)
	middle, middleKey := signed(t, template("middle", 2*time.Hour, true), root, rootKey)
	direct, _ := signed(t, template("direct", time.Hour, false, x509.ExtKeyUsageClientAuth), root, rootKey)
	through, _ := signed(t, template("through", 5*time.Hour, false, x509.ExtKeyUsageClientAuth), middle, middleKey)
	serving, _ := signed(t, template("serving", time.Hour, false, x509.ExtKeyUsageServerAuth), root, rootKey)
	for name, test := range map[string]struct {
		sent        []*x509.Certificate
		authorities []*x509.Certificate
		after       time.Duration
		err         string
	}{
		"valid":                        {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{root}},
		"at its end":                   {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{root}, after: time.Hour},
		"over":                         {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{root}, after: time.Hour + time.Second, err: "expired"},
		"not valid yet":                {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{root}, after: -time.Second, err: "not yet valid"},
		"an authority that is removed": {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{other}, err: "unknown authority"},
		"one of two authorities":       {sent: []*x509.Certificate{direct}, authorities: []*x509.Certificate{other, root}},
		"through another":              {sent: []*x509.Certificate{through, middle}, authorities: []*x509.Certificate{root}},
		"through one that is over":     {sent: []*x509.Certificate{through, middle}, authorities: []*x509.Certificate{root}, after: 3 * time.Hour, err: "expired"},
		"through one that is not sent": {sent: []*x509.Certificate{through}, authorities: []*x509.Certificate{root}, err: "unknown authority"},
		"for servers":                  {sent: []*x509.Certificate{serving}, authorities: []*x509.Certificate{root}, err: "key usage"},
	} {
		pool := x509.NewCertPool()
		for _, cert := range test.authorities {
			pool.AddCert(cert)
		}
		a := newAuthenticator(nil, func() (*x509.CertPool, error) { return pool, nil }, func() time.Time { return begin.Add(test.after) })
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pods", http.NoBody)
		req.TLS = &tls.ConnectionState{PeerCertificates: test.sent, VerifiedChains: [][]*x509.Certificate{append(slices.Clone(test.sent), root)}}
		u, err := a.user(req)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: user %v, error %v; want %q", name, u, err, test.err)
			}
			continue
		}
		if err != nil || u.name != test.sent[0].Subject.CommonName || !slices.Equal(u.groups, []string{"group", "system:authenticated"}) {
			t.Errorf("%s: user %v, error %v", name, u, err)
		}
	}
	broken := newAuthenticator(nil, func() (*x509.CertPool, error) { return nil, errors.New("no file") }, time.Now)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pods", http.NoBody)
	req.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{direct}}
	if u, err := broken.user(req); err == nil {
		t.Errorf("without authorities: user %v", u)
	}
}

// A connection outlives neither the certificate of its client nor the authority. The next connection
// may show another certificate.
func TestServer_keptConnection(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(n *node, turn func(time.Duration)){
		"the certificate expires": func(_ *node, turn func(time.Duration)) { turn(2 * time.Hour) },
		"the authority is removed": func(n *node, _ func(time.Duration)) {
			other, err := pki.New("other")
			must(n.t, err)
			must(n.t, os.WriteFile(filepath.Join(n.dir, "ca"), other.PEM, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var skew time.Duration
			n := newNode(t, func(c *Config) {
				c.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Add(skew)
				}
			})
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(n.serving.PEM)
			connections := 0
			transport := &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*n.client(n.clients, "admin", "system:masters")}},
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					connections++
					return (&net.Dialer{}).DialContext(ctx, network, address)
				},
			}
			defer transport.CloseIdleConnections()
			get := func() (code int, closes bool) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+n.address+"/pods", http.NoBody)
				must(t, err)
				answer, err := (&http.Client{Transport: transport}).Do(req)
				must(t, err)
				defer answer.Body.Close()
				_, err = io.Copy(io.Discard, answer.Body)
				must(t, err)
				return answer.StatusCode, answer.Close
			}
			for range 2 {
				if code, closes := get(); code != http.StatusOK || closes {
					t.Fatalf("before: %d, closed: %v", code, closes)
				}
			}
			change(n, func(by time.Duration) { mu.Lock(); defer mu.Unlock(); skew += by })
			if code, closes := get(); code != http.StatusUnauthorized || !closes || connections != 1 {
				t.Errorf("then: %d, closed: %v, after %d connections", code, closes, connections)
			}
		})
	}
}
