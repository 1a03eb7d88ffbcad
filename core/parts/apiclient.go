package parts

import (
	"log/slog"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
)

// APIClient returns the client of the cluster's API server, nil for an agent that is no member of a cluster.
func APIClient(cfg *config.Config, log *slog.Logger) (*kube.Client, error) {
	if cfg.Cluster.Kubeconfig == "" {
		return nil, nil
	}
	server, err := kube.Load(cfg.Cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	server.Logger = log
	return kube.New(server)
}
