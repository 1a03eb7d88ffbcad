package recorder

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/conformance/instance"
)

// authority makes a self-signed certificate, in the files that an instance has for an authority and
// for a node.
func authority(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, secret := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"ca.crt": cert, "node.crt": cert, "ca.key": secret, "node.key": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// started returns a recorder in front of a server, and a client that uses it.
func started(t *testing.T, server http.HandlerFunc, http2 bool) (*Recorder, *http.Client, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "k8s"), 0o755); err != nil {
		t.Fatal(err)
	}
	pool := authority(t, filepath.Join(dir, "k8s"))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "k8s", "ca.crt"), filepath.Join(dir, "k8s", "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	serving, err := issue(pair)
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewUnstartedServer(server)
	api.EnableHTTP2 = true
	api.TLS = &tls.Config{Certificates: []tls.Certificate{serving}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	api.StartTLS()
	t.Cleanup(api.Close)
	own := filepath.Join(dir, "node.kubeconfig")
	if err := os.WriteFile(own, []byte("server: "+api.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Start(&instance.Instance{Dir: dir, Env: map[string]string{"APISERVER": api.URL, "NODE_KUBECONFIG": own}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: http2}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, &http.Client{Transport: transport}, strings.TrimSpace(strings.TrimPrefix(string(text), "server: "))
}

func TestRecorder_recordsWhatItForwards(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, client, url := started(t, func(w http.ResponseWriter, q *http.Request) {
				body, _ := io.ReadAll(q.Body)
				w.WriteHeader(http.StatusConflict)
				fmt.Fprintf(w, "%s with %d certificates: %s", q.Header.Get("Content-Type"), len(q.TLS.PeerCertificates), body)
			}, http2)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url+"/api/v1/pods/a/status?x=1", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/strategic-merge-patch+json")
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			said, err := io.ReadAll(answer.Body)
			if want := "application/strategic-merge-patch+json with 1 certificates: {}"; err != nil || string(said) != want || answer.Proto != name {
				t.Errorf("the answer is %q in %s, %v, want %q", said, answer.Proto, err, want)
			}
			all := r.Requests()
			if len(all) != 1 {
				t.Fatalf("%d requests are recorded", len(all))
			}
			got := fmt.Sprint(all[0].Method, all[0].Path, all[0].Query, all[0].Code, string(all[0].Body), all[0].BytesIn, all[0].BytesOut)
			if want := fmt.Sprint("PATCH", "/api/v1/pods/a/status", "x=1", 409, "{}", 2, len(said)); got != want {
				t.Errorf("recorded is %s, want %s", got, want)
			}
			if total := r.Total(); total.Requests != 1 || total.BytesIn < 100 || total.BytesOut < 100 {
				t.Errorf("counted is %+v", total)
			}
			if len(r.Requests()) != 0 {
				t.Error("a request is returned twice")
			}
		})
	}
}

func TestRecorder_passesAWatchOnAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	_, client, url := started(t, func(w http.ResponseWriter, _ *http.Request) {
		for range next {
			fmt.Fprintln(w, "event")
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
		}
	}, true)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/pods?watch=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	go func() { next <- struct{}{} }()
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for n := range 3 {
		if !lines.Scan() || lines.Text() != "event" {
			t.Fatalf("event %d: %q, %v", n, lines.Text(), lines.Err())
		}
		if n < 2 {
			next <- struct{}{}
		}
	}
	close(next)
}
