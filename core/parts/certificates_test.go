package parts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	certificates "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/wardlet/wardlet/core/certificate"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// joined is a node of a cluster, and its configuration.
type joined struct {
	dir     string
	cfg     *config.Config
	clients *pki.Authority
	// url and ca are the address of the API server, and the authority of its certificate.
	url, ca string
}

// newJoined starts an API server, and makes a node without any file. The server says who has asked,
// and signs what is requested.
func newJoined(t *testing.T) *joined {
	t.Helper()
	dir := t.TempDir()
	n := &joined{dir: dir, cfg: config.Default(), ca: filepath.Join(dir, "ca.crt")}
	n.cfg.Paths.CertDir = filepath.Join(dir, "pki")
	n.cfg.Cluster.Kubeconfig, n.cfg.Cluster.RotateCertificates = filepath.Join(dir, "kubelet.conf"), true
	serving, err := pki.New("serving")
	must(t, err)
	n.clients, err = pki.New("clients")
	must(t, err)
	must(t, os.WriteFile(n.ca, serving.PEM, 0o600))
	pair, err := serving.Server("127.0.0.1")
	must(t, err)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(n.serve))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

// user returns the user of a request, empty if there is none. A certificate precedes a token, as at
// an API server.
func (n *joined) user(r *http.Request) string {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(n.clients.PEM)
	if peers := r.TLS.PeerCertificates; len(peers) > 0 {
		if _, err := peers[0].Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
			return peers[0].Subject.CommonName
		}
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

func (n *joined) serve(w http.ResponseWriter, r *http.Request) {
	user := n.user(r)
	switch {
	case user == "":
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
	case r.URL.Path == "/user":
		_, _ = io.WriteString(w, user)
	case r.Method == http.MethodPost:
		scheme := runtime.NewScheme()
		scheme.AddKnownTypes(certificates.SchemeGroupVersion, &certificates.CertificateSigningRequest{})
		body, _ := io.ReadAll(r.Body)
		object, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		is := object.(*certificates.CertificateSigningRequest)
		is.Kind, is.APIVersion = "CertificateSigningRequest", "certificates.k8s.io/v1"
		if is.Status.Certificate, err = n.clients.SignRequest(is.Spec.Request, time.Now().Add(time.Hour), x509.ExtKeyUsageClientAuth); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(is)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

// kubeconfig writes a kubeconfig.
func (n *joined) kubeconfig(t *testing.T, path string, c kube.Credentials) {
	t.Helper()
	c.CA = kube.Material{File: n.ca}
	text, err := kube.Kubeconfig(kube.Config{Server: n.url, Credentials: c})
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
}

// pair returns the certificate of a user as credentials of a kubeconfig.
func pair(t *testing.T, of pki.Pair, err error) kube.Credentials {
	t.Helper()
	must(t, err)
	return kube.Credentials{Cert: kube.Material{Data: string(of.Cert)}, Key: kube.Material{Data: string(of.Key)}}
}

// A stored certificate is used while it is valid. One that has expired, or that cannot be read, is
// replaced by what the kubeconfig has.
func TestTakeClientCertificate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stored     string // the user of the stored certificate; "none", "expired" or "damaged"
		kubeconfig string
		kept       bool // the agent does not renew
		want       string
		// user is that of the agent's requests, empty if the server refuses them.
		user string
	}{
		"the first one":                           {stored: "none", kubeconfig: "new", want: "new", user: "new"},
		"the first one, which has expired":        {stored: "none", kubeconfig: "expired", want: "expired"},
		"a valid one stays":                       {stored: "old", kubeconfig: "new", want: "old", user: "old"},
		"a new kubeconfig for an expired one":     {stored: "expired", kubeconfig: "new", want: "new", user: "new"},
		"a new kubeconfig for a damaged one":      {stored: "damaged", kubeconfig: "new", want: "new", user: "new"},
		"another one that has expired":            {stored: "expired", kubeconfig: "expired", want: "expired"},
		"a damaged one and one that has expired":  {stored: "damaged", kubeconfig: "expired", want: "damaged"},
		"a kubeconfig that names the expired one": {stored: "expired", kubeconfig: "link", want: "expired"},
		"a token for an expired one":              {stored: "expired", kubeconfig: "token", want: "expired", user: "token"},
		"a token beside a valid one":              {stored: "old", kubeconfig: "token", want: "old", user: "old"},
		"a token's file that is gone":             {stored: "old", kubeconfig: "token file", want: "old", user: "old"},
		"a token alone":                           {stored: "none", kubeconfig: "token", want: "none", user: "token"},
		"a missing file":                          {stored: "none", kubeconfig: "missing", want: "none"},
		"a missing file beside an expired one":    {stored: "expired", kubeconfig: "missing", want: "expired"},
		"a damaged file":                          {stored: "none", kubeconfig: "damaged", want: "none"},
		"an agent that does not renew":            {stored: "none", kubeconfig: "new", kept: true, want: "none", user: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newJoined(t)
			n.cfg.Cluster.RotateCertificates = !test.kept
			store := clientStore(n.cfg)
			switch test.stored {
			case "none":
			case "damaged":
				must(t, store.Write([]byte("-----BEGIN"), nil, time.Now()))
			case "expired":
				p, err := n.clients.Expired("expired")
				must(t, err)
				must(t, store.Write(p.Cert, p.Key, time.Now().Add(-time.Hour)))
			default:
				p, err := n.clients.Client(test.stored)
				must(t, err)
				must(t, store.Write(p.Cert, p.Key, time.Now().Add(-time.Hour)))
			}
			var c kube.Credentials
			switch test.kubeconfig {
			case "link":
				c = kube.Credentials{Cert: kube.Material{File: store.Current()}, Key: kube.Material{File: store.Current()}}
			case "token":
				c.Token.Data = "token"
			case "token file":
				c.Token.File = filepath.Join(n.dir, "token")
			case "missing", "damaged":
				c = kube.Credentials{Cert: kube.Material{File: filepath.Join(n.dir, "crt")}, Key: kube.Material{File: filepath.Join(n.dir, "key")}}
				if test.kubeconfig == "damaged" {
					must(t, os.WriteFile(c.Cert.File, []byte("-----BEGIN"), 0o600))
					must(t, os.WriteFile(c.Key.File, []byte("-----BEGIN"), 0o600))
				}
			case "expired":
				p, err := n.clients.Expired("expired")
				c = pair(t, p, err)
			default:
				p, err := n.clients.Client(test.kubeconfig)
				c = pair(t, p, err)
			}
			n.kubeconfig(t, n.cfg.Cluster.Kubeconfig, c)

			if err := TakeClientCertificate(n.cfg, time.Now()); err != nil {
				t.Errorf("the agent does not start: %v", err)
			}
			got := "none"
			if have, err := store.Read(); err == nil {
				got = have.Subject.CommonName
			} else if store.Exists() {
				got = "damaged"
			}
			if got != test.want {
				t.Errorf("stored is %q, want %q", got, test.want)
			}
			client, err := APIClient(n.cfg, slog.New(slog.DiscardHandler))
			must(t, err)
			defer client.Close()
			if user, err := as(t, client); user != test.user {
				t.Errorf("requests are those of %q, want %q; %v", user, test.user, err)
			}
		})
	}
}

// as returns the user of a client's requests.
func as(t *testing.T, client *kube.Client) (string, error) {
	t.Helper()
	text, err := client.Request(http.MethodGet, v1.SchemeGroupVersion).AbsPath("/user").Do(t.Context()).Raw()
	if err != nil {
		return "", client.Explain(err)
	}
	return string(text), nil
}

// A kubeconfig may name a certificate that is not there: the agent starts, and requests one if it has
// a bootstrap kubeconfig. Otherwise it says what is missing.
func TestNewCertificates_certificateOfTheKubeconfigIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file      string
		bootstrap bool
	}{
		"as kubeadm names it":               {certificate.ClientName + "-current.pem", true},
		"another file":                      {"node.crt", true},
		"as kubeadm names it, no bootstrap": {certificate.ClientName + "-current.pem", false},
		"another file, no bootstrap":        {"node.crt", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newJoined(t)
			missing := kube.Material{File: filepath.Join(n.cfg.Paths.CertDir, test.file)}
			n.kubeconfig(t, n.cfg.Cluster.Kubeconfig, kube.Credentials{Cert: missing, Key: missing})
			if test.bootstrap {
				n.cfg.Cluster.BootstrapKubeconfig = filepath.Join(n.dir, "bootstrap.conf")
				n.kubeconfig(t, n.cfg.Cluster.BootstrapKubeconfig, kube.Credentials{Token: kube.Material{Data: "bootstrap"}})
			}
			must(t, TakeClientCertificate(n.cfg, time.Now()))
			var log strings.Builder
			logger := slog.New(slog.NewTextHandler(&log, nil))
			client, err := APIClient(n.cfg, logger)
			must(t, err)
			defer client.Close()
			keeper := NewCertificates(n.cfg, CertificateSetting{Node: "n", API: client, Logger: logger, Now: time.Now}).Client
			if !test.bootstrap {
				if got := log.String(); !strings.Contains(got, "level=ERROR") || !strings.Contains(got, missing.File) || !strings.Contains(got, n.cfg.Cluster.Kubeconfig) || !strings.Contains(got, "cluster.bootstrap_kubeconfig") {
					t.Errorf("log: %s", got)
				}
				if _, err := as(t, client); err == nil || !strings.Contains(err.Error(), missing.File) {
					t.Errorf("error %v", err)
				}
				// What comes later is used.
				p, err := n.clients.Client("later")
				must(t, err)
				must(t, os.MkdirAll(n.cfg.Paths.CertDir, 0o700))
				must(t, os.WriteFile(missing.File, append(p.Cert, p.Key...), 0o600))
				if user, err := as(t, client); user != "later" {
					t.Errorf("requests are those of %q; %v", user, err)
				}
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { keeper.Run(ctx) })
			defer running.Wait()
			defer cancel()
			select {
			case <-keeper.Ready():
			case <-time.After(10 * time.Second):
				t.Fatalf("no certificate: %s", log.String())
			}
			if user, err := as(t, client); user != userPrefix+"n" {
				t.Errorf("requests are those of %q; %v", user, err)
			}
		})
	}
}
