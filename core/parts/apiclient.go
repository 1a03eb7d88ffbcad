package parts

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
)

// APIClient returns the client of the cluster's API server, nil for an agent that is no member of a
// cluster. Its requests fail until a node that bootstraps has its certificate.
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
	if cfg.Cluster.Renews() {
		if missing || clientStore(cfg).Exists() {
			server.Credentials = ownCredentials(cfg, server.Credentials)
		}
	}
	server.Logger = log
	return kube.New(server)
}
