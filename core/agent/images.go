package agent

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/image"
	"github.com/wardlet/wardlet/core/image/credential"
)

// newPuller makes what pulls images for pods.
func (n *Node) newPuller() *image.Puller {
	cfg := &n.cfg.Runtime
	return image.New(image.Config{
		Runtime: n.runtime,
		Credentials: credential.New(credential.Config{
			RegistryConfig: cfg.RegistryConfig, ProviderConfig: cfg.CredentialProviderConfig, ProviderDir: cfg.CredentialProviderBinDir, Log: n.log, Now: time.Now,
		}),
		Records: n.state.PulledImages(), Owner: func(p *v1.Pod) string { return n.meters.Tenants.Of(p.Namespace) },
		Parallel: cfg.ParallelPulls, ProgressTimeout: cfg.PullProgressTimeout, OfflineFallback: cfg.OfflinePull == config.OfflineFallback, Prepull: cfg.Prepull,
		Events: n.recorder, Log: n.log, Now: time.Now,
	})
}
