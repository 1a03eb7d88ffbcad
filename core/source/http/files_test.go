package http

import (
	"errors"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestHeadersAreReadAnew(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		if q.Header.Get("X-Token") != "new" {
			w.WriteHeader(nethttp.StatusForbidden)
			return
		}
		answerWith(w, manifestOf("a", "i"))
	})
	path := place(t, "headers", "X-Token: old\nX-Token: older\n")
	r := newReader(t, srv.URL, func(c *Config) { c.HeaderFile = path })
	says(t, "health", r.read(t), "URL: answered 403 Forbidden; it does not take what header_file")
	same(t, "values", []string{"old", "older"}, srv.requests()[0].Header["X-Token"])
	file(t, path, "X-Token: new\nUser-Agent: fleet\n")
	r.good(t)
	asked := srv.requests()[0]
	same(t, "values", []string{"new"}, asked.Header["X-Token"])
	same(t, "name", []string{"fleet"}, asked.Header["User-Agent"])
	file(t, path, "# none\n")
	says(t, "health", r.read(t), "URL: answered 403 Forbidden")
	same(t, "name", []string{"wardlet"}, srv.requests()[0].Header["User-Agent"])
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	file(t, large, strings.Repeat("#\n", maxFile/2+1))
	wrong := filepath.Join(dir, "wrong")
	file(t, wrong, "secret\n")
	ca := newAuthority(t)
	cert, key := ca.client(t)
	_, otherKey := ca.client(t)
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"headers that are missing": {func(c *Config) { c.HeaderFile = dir + "/none" }, "header_file: open DIR/none: no such file or directory"},
		"headers that are none":    {func(c *Config) { c.HeaderFile = wrong }, "header_file: DIR/wrong:1: want \"Name: value\", found no colon"},
		"a pipe":                   {func(c *Config) { c.HeaderFile = fifo }, "header_file: DIR/fifo is not a regular file"},
		"a directory":              {func(c *Config) { c.CAFile = dir }, "ca_file: DIR is not a regular file"},
		"more than is read":        {func(c *Config) { c.HeaderFile = large }, "header_file: DIR/large is larger than 1048576 bytes"},
		"authorities that are none": {
			func(c *Config) { c.CAFile = wrong },
			"ca_file: DIR/wrong holds no certificate; it needs one that begins with -----BEGIN CERTIFICATE-----",
		},
		"a certificate that is missing": {
			func(c *Config) { c.ClientCertFile, c.ClientKeyFile = dir+"/none", key },
			"client_cert_file: open DIR/none: no such file or directory",
		},
		"a key that is missing": {
			func(c *Config) { c.ClientCertFile, c.ClientKeyFile = cert, dir+"/none" },
			"client_key_file: open DIR/none: no such file or directory",
		},
		"the key of another certificate": {
			func(c *Config) { c.ClientCertFile, c.ClientKeyFile = cert, otherKey },
			"client_cert_file " + cert + " and client_key_file " + otherKey + ": tls: private key does not match public key",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.setText(manifestOf("a", "i"))
			r := newReader(t, srv.URL, test.change)
			got := r.read(t)
			same(t, "health", "URL was not asked: "+test.want, strings.ReplaceAll(got, dir, "DIR"))
			same(t, "requests", 0, len(srv.requests()))
			same(t, "deliveries", nil, r.news())
		})
	}
}

func TestTheServersCertificateIsChecked(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	late, elsewhere := newAuthority(t), newAuthority(t)
	late.issued = time.Now().Add(-48 * time.Hour)
	elsewhere.host = []byte{127, 0, 0, 2}
	for name, test := range map[string]struct {
		of   *authority
		file string
		want string
	}{
		"of the configured authority": {ca, ca.file, "<nil>"},
		"of another authority": {
			ca, late.file, "URL: tls: failed to verify certificate: x509: certificate signed by unknown authority; " +
				"add the authority of the server's certificate to " + late.file,
		},
		"of one the system does not know": {
			ca, "", "URL: tls: failed to verify certificate: x509: certificate signed by unknown authority; " +
				"name the authority of the server's certificate with ca_file",
		},
		"that is of the past": {late, late.file, "URL: tls: failed to verify certificate: x509: certificate has expired"},
		"that is another host's": {
			elsewhere, elsewhere.file,
			"URL: tls: failed to verify certificate: x509: certificate is valid for 127.0.0.2, not 127.0.0.1; url must have a host of the server's certificate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, test.of.serve(t, nil))
			srv.setText(manifestOf("a", "i"))
			r := newReader(t, srv.URL, func(c *Config) { c.CAFile = test.file })
			says(t, "health", r.read(t), test.want)
		})
	}
}

func TestAuthoritiesAreReadAnew(t *testing.T) {
	t.Parallel()
	first, next := newAuthority(t), newAuthority(t)
	srv := newServer(t, first.serve(t, nil))
	srv.setText(manifestOf("a", "i"))
	path := filepath.Join(t.TempDir(), "ca")
	bundle := func(ca *authority) {
		text, err := os.ReadFile(ca.file)
		if err != nil {
			t.Fatal(err)
		}
		file(t, path, string(text))
	}
	bundle(first)
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile = path })
	r.good(t)
	// A connection that is already open was trusted because of the old file.
	bundle(next)
	says(t, "health", r.read(t), "URL: tls: failed to verify certificate: x509: certificate signed by unknown authority")
	bundle(first)
	r.good(t)
}

func TestNewFilesLeaveNoConnectionBehind(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	srv := newServer(t, ca.serve(t, ca.demands))
	srv.setText(manifestOf("a", "i"))
	cert, key := ca.client(t)
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile, c.ClientCertFile, c.ClientKeyFile = ca.file, cert, key })
	for range 3 {
		r.good(t)
		newCert, newKey := ca.client(t)
		if err := errors.Join(os.Rename(newCert, cert), os.Rename(newKey, key)); err != nil {
			t.Fatal(err)
		}
	}
	r.client.connections.mu.Lock()
	defer r.client.connections.mu.Unlock()
	same(t, "open connections", 1, len(r.client.connections.open))
}

func TestClientCertificatesAreReadAnew(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	srv := newServer(t, ca.serve(t, ca.demands))
	var shown string
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		shown = q.TLS.PeerCertificates[0].Subject.CommonName
		answerWith(w, manifestOf("a", "i"))
	})
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile = ca.file })
	says(t, "health without", r.read(t), "URL: remote error: tls: certificate required; does the server want client_cert_file and client_key_file?")

	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	renew := func(of *authority) {
		c, k := of.client(t)
		for from, to := range map[string]string{c: cert, k: key} {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	renew(ca)
	r = newReader(t, srv.URL, func(c *Config) { c.CAFile, c.ClientCertFile, c.ClientKeyFile = ca.file, cert, key })
	r.good(t)
	first := shown
	r.good(t)
	same(t, "certificate of the same files", first, shown)
	renew(ca)
	r.good(t)
	if shown == first {
		t.Error("the old certificate is shown")
	}
	ca.reuse = ca.key
	renew(ca)
	r.good(t)
	first = shown
	renew(ca)
	r.good(t)
	if shown == first {
		t.Error("of two certificates with one key the old one is shown")
	}
	_, otherKey := other.client(t)
	if err := os.Rename(otherKey, key); err != nil {
		t.Fatal(err)
	}
	says(t, "health with another key", r.read(t), "URL was not asked: client_cert_file "+cert)
	renew(other)
	says(t, "health", r.read(t), "URL: remote error: tls: ")
	if !strings.HasSuffix(r.health, "does the server know the authority of client_cert_file?") {
		t.Errorf("health %s", r.health)
	}
}

func TestOneConnectionServesAsLongAsTheFilesStay(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for name, start := range map[string]func(*httptest.Server){
		"HTTP/1": ca.serve(t, nil),
		"HTTP/2": func(s *httptest.Server) { s.EnableHTTP2 = true; ca.serve(t, nil)(s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, start)
			srv.setText(manifestOf("a", "i"))
			headers := place(t, "headers", "X-A: 1\n")
			r := newReader(t, srv.URL, func(c *Config) { c.CAFile, c.HeaderFile = ca.file, headers })
			from := map[string]bool{}
			for range 3 {
				r.good(t)
				asked := srv.requests()[0]
				same(t, "protocol", name[:6], asked.Proto[:6])
				from[asked.RemoteAddr] = true
			}
			file(t, headers, "X-A: 2\n")
			r.good(t)
			from[srv.requests()[0].RemoteAddr] = true
			same(t, "connections", 1, len(from))
		})
	}
}
