package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

// guarded is a TLS server that requires a token and a client certificate, and a source that
// reads both from files.
type guarded struct {
	fixture
	// ca, token, cert and key are the files that the source reads.
	ca, token, cert, key string
	logs                 *logs

	mu sync.Mutex
	// accepts and client are the token and the client name that the server accepts. signedBy is
	// the authority of client certificates. identity is the server's certificate.
	accepts, client string
	signedBy        *pki.Authority
	identity        tls.Certificate
	protocols       map[string]bool
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	g := &guarded{
		ca: at("ca"), token: at("token"), cert: at("cert"), key: at("key"), logs: &logs{},
		accepts: "one", client: "first", protocols: map[string]bool{},
	}
	g.signedBy = authority(t)
	g.serveAs(t, g.signedBy)
	g.giveCA(t, g.signedBy)
	g.giveToken(t, "one\n")
	g.giveClient(t, g.signedBy, "first")
	g.fakeServer = newFakeServer(t, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.TLS = &tls.Config{GetConfigForClient: g.secure, NextProtos: []string{"h2"}}
		s.StartTLS()
	})
	g.breaks(g.refuse)
	g.set("a", "img:1")
	g.sink, g.source = newSource(t, kube.Config{Server: g.URL, Credentials: kube.Credentials{
		CA: kube.Material{File: g.ca}, Token: kube.Material{File: g.token}, Cert: kube.Material{File: g.cert}, Key: kube.Material{File: g.key},
	}}, Config{Logger: g.logs.logger()})
	return g
}

// secure returns the server's TLS settings for a new connection.
func (g *guarded) secure(*tls.ClientHelloInfo) (*tls.Config, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(g.signedBy.PEM)
	return &tls.Config{
		Certificates: []tls.Certificate{g.identity}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	}, nil
}

// refuse answers 401 to requests without the right credentials.
func (g *guarded) refuse(w http.ResponseWriter, r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.protocols[r.Proto] = true
	if r.Header.Get("Authorization") == "Bearer "+g.accepts && r.TLS.PeerCertificates[0].Subject.CommonName == g.client {
		return false
	}
	status(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	return true
}

func (g *guarded) accept(token, client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accepts, g.client = token, client
}

// serveAs makes the server use a new certificate of this authority for new connections.
func (g *guarded) serveAs(t *testing.T, a *pki.Authority) {
	t.Helper()
	pair, err := a.Server("127.0.0.1")
	must(t, err)
	identity, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must(t, err)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.identity = identity
}

func (g *guarded) giveCA(t *testing.T, a *pki.Authority) { t.Helper(); put(t, g.ca, string(a.PEM)) }

func (g *guarded) giveToken(t *testing.T, token string) { t.Helper(); put(t, g.token, token) }

func (g *guarded) giveClient(t *testing.T, a *pki.Authority, name string) {
	t.Helper()
	pair, err := a.Client(name)
	must(t, err)
	put(t, g.cert, string(pair.Cert))
	put(t, g.key, string(pair.Key))
}

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	a, err := pki.New("test")
	must(t, err)
	return a
}

// put writes a file in one step.
func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path+".new", []byte(text), 0o600))
	must(t, os.Rename(path+".new", path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRotation checks that new contents of credential files are used from the next request on.
func TestRotation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then func(*testing.T, *guarded)
		// logged must be in the log, and silent must not.
		logged, silent string
	}{
		"a token that is replaced before the old one ends": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				g.giveToken(t, "two")
				g.accept("two", "first")
			},
			silent: "credentials cannot be read",
		},
		"a token that is replaced after the old one was refused": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				g.accept("two", "first")
				g.cut(false)
				g.awaitHealth(t, "renew the token or the certificate")
				g.giveToken(t, "two")
			},
		},
		"a client certificate": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				g.giveClient(t, g.signedBy, "second")
				g.accept("one", "second")
			},
			logged: "connecting anew", silent: "credentials cannot be read",
		},
		"a certificate authority, after the server's certificate was refused": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				next := authority(t)
				g.serveAs(t, next)
				g.CloseClientConnections()
				g.awaitHealth(t, "check that the certificate authority is this server's")
				g.giveCA(t, next)
			},
		},
		"a token file that goes away: the token read before is used": {
			then:   func(t *testing.T, g *guarded) { t.Helper(); must(t, os.Remove(g.token)) },
			logged: "credentials cannot be read; those read before are used",
		},
		"a token file that is emptied": {
			then: func(t *testing.T, g *guarded) { t.Helper(); g.giveToken(t, "\n") }, logged: "it is empty",
		},
		"a token of two words": {
			then: func(t *testing.T, g *guarded) { t.Helper(); g.giveToken(t, "one two") }, logged: "one word",
		},
		"a certificate whose key is another's": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				pair, err := g.signedBy.Client("second")
				must(t, err)
				put(t, g.cert, string(pair.Cert))
			},
			logged: "does not match",
		},
		"a key that goes away": {
			then:   func(t *testing.T, g *guarded) { t.Helper(); must(t, os.Remove(g.key)) },
			logged: "client key file",
		},
		"authorities that are none": {
			then:   func(t *testing.T, g *guarded) { t.Helper(); put(t, g.ca, "nonsense") },
			logged: "no certificate in it",
		},
		"a directory in place of a file": {
			then: func(t *testing.T, g *guarded) {
				t.Helper()
				must(t, os.Remove(g.ca))
				must(t, os.Mkdir(g.ca, 0o700))
			},
			logged: "not a file of at most",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			run(t, g.source)
			eventually(t, 1, g.watching)
			eventually(t, []string{"default/a img:1"}, g.sink.has)
			test.then(t, g)
			g.set("a", "img:2")
			g.cut(true)
			eventually(t, 2, g.opened)
			eventually(t, []string{"default/a img:2"}, g.sink.has)
			g.set("a", "img:3")
			eventually(t, []string{"default/a img:3"}, g.sink.has)
			eventually(t, "<nil>", g.sink.lastHealth)
			logged := g.logs.String()
			if !strings.Contains(logged, test.logged) {
				t.Errorf("not logged: %q in\n%s", test.logged, logged)
			}
			if test.silent != "" && strings.Contains(logged, test.silent) {
				t.Errorf("logged: %q in\n%s", test.silent, logged)
			}
			if strings.Contains(logged, "one two") || len(g.protocols) != 1 || !g.protocols["HTTP/2.0"] {
				t.Errorf("protocols %v; log:\n%s", g.protocols, logged)
			}
		})
	}
}

// TestCredentialsThatAreMissing checks that a source starts without one of its files, reports
// the missing file, and reads the server once the file exists.
func TestCredentialsThatAreMissing(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]func(*guarded) string{
		"certificate authority": func(g *guarded) string { return g.ca },
		"token":                 func(g *guarded) string { return g.token },
		"client certificate":    func(g *guarded) string { return g.cert },
		"client key":            func(g *guarded) string { return g.key },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			path := file(g)
			must(t, os.Rename(path, path+".away"))
			run(t, g.source)
			g.awaitHealth(t, name+" file "+path+": no such file or directory")
			must(t, os.Rename(path+".away", path))
			eventually(t, []string{"default/a img:1"}, g.sink.has)
			eventually(t, "<nil>", g.sink.lastHealth)
		})
	}
}

// TestTokenStaysHere checks that the token is not sent to another server that the right server
// redirects to.
func TestTokenStaysHere(t *testing.T) {
	t.Parallel()
	var asked sync.Map
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	g := newGuarded(t)
	g.breaks(redirect(other.URL + "/stolen"))
	run(t, g.source)
	g.awaitHealth(t, "redirects are not followed")
	asked.Range(func(path, token any) bool {
		t.Errorf("asked for %v with %q", path, token)
		return true
	})
}
