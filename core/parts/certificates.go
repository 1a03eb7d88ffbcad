package parts

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	certificates "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/certificate"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/state/durable"
)

const (
	// userPrefix and nodesGroup are the user and the group of a node at an API server.
	userPrefix = "system:node:"
	nodesGroup = "system:nodes"
)

// Certificates are the certificates of a node that the agent keeps. One that it does not keep is nil.
type Certificates struct {
	// Client is for the API server, Serving for the node's own API.
	Client, Serving *certificate.Keeper
}

// CertificateSetting is what the certificates of a node need beside the configuration.
type CertificateSetting struct {
	// Node is the name of the node, and Object returns its object.
	Node   string
	Object func() *v1.Node
	// API is the client of the agent, nil outside a cluster.
	API    *kube.Client
	Logger *slog.Logger
	Now    func() time.Time
}

// NewCertificates returns the certificates that the configuration asks for.
func NewCertificates(cfg *config.Config, s CertificateSetting) Certificates {
	c := Certificates{Client: clientCertificate(cfg, s)}
	if cfg.NodeAPI.Served() && cfg.NodeAPI.CertFile == "" {
		c.Serving = servingCertificate(cfg, s)
	}
	return c
}

// clientStore has the certificate for the API server.
func clientStore(cfg *config.Config) certificate.Store {
	return certificate.Store{Dir: cfg.Paths.CertDir, Name: certificate.ClientName}
}

// servingStore has the certificate for the node's API.
func servingStore(cfg *config.Config) certificate.Store {
	if cfg.NodeAPI.ServerTLSBootstrap {
		return certificate.Store{Dir: cfg.Paths.CertDir, Name: certificate.ServingName}
	}
	return certificate.Store{Dir: cfg.Paths.CertDir, Name: certificate.SelfSignedName}
}

// ServingFiles returns the files of the certificate and the key of the node's API.
func ServingFiles(cfg *config.Config) (certFile, keyFile string) {
	if cfg.NodeAPI.CertFile != "" {
		return cfg.NodeAPI.CertFile, cfg.NodeAPI.KeyFile
	}
	path := servingStore(cfg).Current()
	return path, path
}

// clientCertificate returns the keeper of the certificate for the API server, nil if the agent keeps
// none.
func clientCertificate(cfg *config.Config, s CertificateSetting) *certificate.Keeper {
	if s.API == nil || !cfg.Cluster.Renews() {
		return nil
	}
	if err := credentialsFault(cfg); err != nil {
		s.Logger.Error("this node has no certificate for the API server and can request none; write the one that its kubeconfig names, "+
			"or name a kubeconfig that may request it in cluster.bootstrap_kubeconfig and restart the agent", "kubeconfig", cfg.Cluster.Kubeconfig, "err", err)
	}
	return certificate.New(certificate.Config{
		Store:    clientStore(cfg),
		Template: func() *certificate.Template { return template(s.Node) },
		Signer: &certificate.Cluster{
			Client: func() (*kube.Client, error) { return signingClient(cfg, s) },
			Signer: certificates.KubeAPIServerClientKubeletSignerName, Usage: certificates.UsageClientAuth, Logger: s.Logger,
		},
		Stored: func() error { return writeKubeconfig(cfg) },
		Logger: s.Logger, Now: s.Now,
	})
}

// credentialsFault returns why a node without a certificate cannot request its first one, nil if it
// can.
func credentialsFault(cfg *config.Config) error {
	if cfg.Cluster.BootstrapKubeconfig != "" || clientStore(cfg).Exists() {
		return nil
	}
	server, err := kube.Load(cfg.Cluster.Kubeconfig)
	if err == nil {
		_, _, err = server.Credentials.Pair()
	}
	return err
}

// TakeClientCertificate stores the client certificate of the kubeconfig as the first that the agent
// renews, if it renews that certificate and has none yet. If it has one that has expired or cannot be
// read, it takes that of the kubeconfig only if it has not expired. It runs before APIClient.
func TakeClientCertificate(cfg *config.Config, now time.Time) error {
	store := clientStore(cfg)
	have, storeErr := store.Read()
	if !cfg.Cluster.Renews() || storeErr == nil && !now.After(have.NotAfter) {
		return nil
	}
	server, err := kube.Load(cfg.Cluster.Kubeconfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is written after a bootstrap
	}
	if err != nil {
		return err
	}
	cert, key, err := server.Credentials.Pair()
	if err != nil {
		return nil //nolint:nilerr // a certificate is requested, and what makes that impossible is logged then
	}
	if cert == nil {
		return nil // it has a token, with which a certificate is requested
	}
	if !errors.Is(storeErr, fs.ErrNotExist) {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil || now.After(pair.Leaf.NotAfter) {
			return err
		}
	}
	return store.Write(cert, key, now)
}

// signingClient returns the client that requests the certificate for the API server: the agent's,
// or if the certificate is missing or has expired, that of the bootstrap kubeconfig.
func signingClient(cfg *config.Config, s CertificateSetting) (*kube.Client, error) {
	have, err := clientStore(cfg).Read()
	if cfg.Cluster.BootstrapKubeconfig == "" || err == nil && !s.Now().After(have.NotAfter) {
		return s.API, nil
	}
	server, loadErr := kube.Load(cfg.Cluster.BootstrapKubeconfig)
	if loadErr != nil && err == nil {
		return s.API, nil // nothing else is left; the clock may be wrong
	}
	if loadErr != nil {
		return nil, loadErr
	}
	server.Logger = s.Logger
	return kube.New(server)
}

// writeKubeconfig writes the kubeconfig of the node if it is missing.
func writeKubeconfig(cfg *config.Config) error {
	if _, err := os.Stat(cfg.Cluster.Kubeconfig); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	server, err := kube.Load(cfg.Cluster.BootstrapKubeconfig)
	if err != nil {
		return err
	}
	server.Credentials = ownCredentials(cfg, server.Credentials)
	text, err := kube.Kubeconfig(server)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(cfg.Cluster.Kubeconfig)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return durable.WriteFile(dir, name, text)
}

// ownCredentials returns credentials with the certificate that the agent keeps.
func ownCredentials(cfg *config.Config, c kube.Credentials) kube.Credentials {
	current := kube.Material{File: clientStore(cfg).Current()}
	return kube.Credentials{CA: c.CA, Cert: current, Key: current}
}

// template returns what all certificates of a node say.
func template(node string) *certificate.Template {
	return &certificate.Template{User: userPrefix + node, Groups: []string{nodesGroup}}
}

// servingCertificate returns the keeper of the certificate of the node's API.
func servingCertificate(cfg *config.Config, s CertificateSetting) *certificate.Keeper {
	c := certificate.Config{Store: servingStore(cfg), Logger: s.Logger, Now: s.Now}
	if !cfg.NodeAPI.ServerTLSBootstrap {
		c.Signer, c.Template = certificate.SelfSigned{Now: s.Now}, func() *certificate.Template {
			t := template(s.Node)
			t.Names = []string{s.Node}
			return t
		}
		return certificate.New(c)
	}
	c.Signer = &certificate.Cluster{
		Client: func() (*kube.Client, error) { return s.API, nil },
		Signer: certificates.KubeletServingSignerName, Usage: certificates.UsageServerAuth, Logger: s.Logger,
	}
	c.Template = func() *certificate.Template {
		if cfg.Cluster.Renews() && !clientStore(cfg).Exists() {
			return nil // without a client certificate no request is possible
		}
		return addressed(template(s.Node), s.Object().Status.Addresses)
	}
	return certificate.New(c)
}

// addressed adds a node's addresses to a template. It returns nil without an IP address: the address
// comes when the network does.
func addressed(t *certificate.Template, addresses []v1.NodeAddress) *certificate.Template {
	for _, a := range addresses {
		switch a.Type {
		case v1.NodeInternalIP, v1.NodeExternalIP:
			t.Addresses = append(t.Addresses, net.ParseIP(a.Address))
		case v1.NodeHostName, v1.NodeInternalDNS, v1.NodeExternalDNS:
			t.Names = append(t.Names, a.Address)
		}
	}
	if len(t.Addresses) == 0 {
		return nil
	}
	return t
}
