package parts

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
)

// APIClient returns the client of the cluster's API server, nil for an agent that is no member of a
// cluster. Its requests fail until a node that bootstraps has its certificate. It uses the certificate
// that the agent keeps, and as a kubelet also the token of the kubeconfig, which counts at the server
// if the certificate has expired.
func APIClient(cfg *config.Config, log *slog.Logger) (*kube.Client, error) {
	if cfg.Cluster.Kubeconfig == "" {
		return nil, nil
	}
	server, err := kube.Load(cfg.Cluster.Kubeconfig)
	missing := errors.Is(err, fs.ErrNotExist) && cfg.Cluster.BootstrapKubeconfig != ""
	if missing {
		server, err = kube.Load(cfg.Cluster.BootstrapKubeconfig)
	}
	if err != nil {
		return nil, err
	}
	if missing || cfg.Cluster.Renews() && (clientStore(cfg).Exists() || bootstraps(cfg, &server.Credentials)) {
		token := server.Credentials.Token
		server.Credentials = ownCredentials(cfg, server.Credentials)
		if _, err := os.Stat(token.File); !missing && (token.File == "" || err == nil) {
			server.Credentials.Token = token
		}
	}
	server.Logger = log
	return kube.New(server)
}

// bootstraps reports whether a node requests its first certificate with a bootstrap kubeconfig,
// because that of its kubeconfig cannot be read.
func bootstraps(cfg *config.Config, c *kube.Credentials) bool {
	_, _, err := c.Pair()
	return err != nil && cfg.Cluster.BootstrapKubeconfig != ""
}
