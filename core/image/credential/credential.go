package credential

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Config has the sources of credentials. All paths are absolute.
type Config struct {
	// RegistryConfig is a config.json, "" for none.
	RegistryConfig string
	// ProviderConfig is a CredentialProviderConfig, "" for none. ProviderDir is the directory of
	// its programs.
	ProviderConfig, ProviderDir string
	Log                         *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
}

// Node has the credentials of the node.
type Node struct {
	registry  *file[keyring]
	providers *file[[]provider]
	cache     *cache
	dir       string
}

// New returns the credentials of a node. It does not read the files yet.
func New(cfg Config) *Node {
	n := &Node{cache: newCache(cfg.Now), dir: cfg.ProviderDir}
	if cfg.RegistryConfig != "" {
		n.registry = &file[keyring]{key: "registry_config", path: cfg.RegistryConfig, parse: parseRegistryConfig, log: cfg.Log}
	}
	if cfg.ProviderConfig != "" {
		n.providers = &file[[]provider]{key: "credential_provider_config", path: cfg.ProviderConfig, parse: parseProviders, log: cfg.Log}
	}
	return n
}

// For returns the credentials for the named image: those of the registry configuration, then those
// of each provider that matches. The error says which sources failed; credentials of the others are
// returned with it. It may take as long as the programs of providers run.
func (n *Node) For(ctx context.Context, name string) (auths []pod.RegistryAuth, err error) {
	repository, err := pod.ImageRepository(name)
	if err != nil {
		return nil, err
	}
	var failed []error
	if n.registry != nil {
		keys, err := n.registry.get()
		failed = append(failed, err)
		auths = append(auths, keys.lookup(repository)...)
	}
	if n.providers != nil {
		providers, err := n.providers.get()
		failed = append(failed, err)
		for i := range providers {
			if !providers[i].matches(repository) {
				continue
			}
			keys, err := n.ask(ctx, &providers[i], repository)
			failed = append(failed, err)
			auths = append(auths, keys.lookup(repository)...)
		}
	}
	return auths, errors.Join(failed...)
}

// Report is the result of Check for one file.
type Report struct {
	Path string
	// OthersRead is true if users other than its owner may read it.
	OthersRead bool
	// Err is why the file cannot be used, in whole or in part.
	Err error
}

// Check reads the files of the configuration, and checks that their programs exist without running
// any.
func Check(cfg Config) (reports []Report) {
	if path := cfg.RegistryConfig; path != "" {
		reports = append(reports, check(path, func(data []byte) error {
			_, err := parseRegistryConfig(data)
			return err
		}))
	}
	if path := cfg.ProviderConfig; path != "" {
		reports = append(reports, check(path, func(data []byte) error { return checkProviders(data, cfg.ProviderDir) }))
	}
	return reports
}

func check(path string, parse func([]byte) error) Report {
	data, mode, err := readFile(path)
	if err != nil {
		return Report{path, false, pathless(err)}
	}
	return Report{path, othersRead(mode), parse(data)}
}

// checkProviders returns the errors in a CredentialProviderConfig whose programs are in dir.
func checkProviders(data []byte, dir string) error {
	providers, err := parseProviders(data)
	if err != nil {
		return err
	}
	var missing []error
	for i := range providers {
		path := filepath.Join(dir, providers[i].Name)
		switch info, err := os.Stat(path); {
		case err != nil:
			missing = append(missing, fmt.Errorf("providers[%d].name: %s: %w", i, path, pathless(err)))
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
			missing = append(missing, fmt.Errorf("providers[%d].name: %s: it is no program", i, path))
		}
	}
	return errors.Join(missing...)
}
