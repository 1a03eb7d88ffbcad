package credential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The API versions of a kubelet that are supported.
const (
	configVersion   = "kubelet.config.k8s.io/v1"
	configKind      = "CredentialProviderConfig"
	providerVersion = "credentialprovider.kubelet.k8s.io/v1"
)

// providerConfig is a CredentialProviderConfig.
type providerConfig struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Providers  []provider `json:"providers"`
}

// provider is one plugin.
type provider struct {
	Name                 string           `json:"name"`
	MatchImages          []string         `json:"matchImages"`
	DefaultCacheDuration *metav1.Duration `json:"defaultCacheDuration"`
	APIVersion           string           `json:"apiVersion"`
	Args                 []string         `json:"args"`
	Env                  []envVar         `json:"env"`

	patterns []pattern
}

type envVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// parseProviders reads a CredentialProviderConfig, as YAML or JSON. Unknown fields are errors, as
// with a kubelet.
func parseProviders(data []byte) ([]provider, error) {
	var cfg providerConfig
	if err := yaml.UnmarshalStrict(data, &cfg); err != nil {
		return nil, fmt.Errorf("it is no %s: %w", configKind, err)
	}
	if cfg.APIVersion != configVersion || cfg.Kind != configKind {
		return nil, fmt.Errorf("want apiVersion %s and kind %s, found %.80q and %.80q", configVersion, configKind, cfg.APIVersion, cfg.Kind)
	}
	if len(cfg.Providers) == 0 {
		return nil, errors.New("providers: missing; name at least one")
	}
	names := map[string]bool{}
	for i := range cfg.Providers {
		p := &cfg.Providers[i]
		if names[p.Name] {
			return nil, fmt.Errorf("providers[%d].name: %q is there twice", i, p.Name)
		}
		names[p.Name] = true
		if err := p.complete(); err != nil {
			return nil, fmt.Errorf("providers[%d].%w", i, err)
		}
	}
	return cfg.Providers, nil
}

// complete checks a provider and parses its patterns.
func (p *provider) complete() error {
	switch {
	case p.Name == "" || p.Name == "." || p.Name == ".." || strings.ContainsAny(p.Name, "/ "):
		return fmt.Errorf("name: want the name of a program in runtime.credential_provider_bin_dir, found %.80q", p.Name)
	case p.APIVersion != providerVersion:
		return fmt.Errorf("apiVersion: want %s, found %.80q", providerVersion, p.APIVersion)
	case p.DefaultCacheDuration == nil || p.DefaultCacheDuration.Duration < 0:
		return errors.New(`defaultCacheDuration: want a duration of 0 or more, for example "10m"`)
	case len(p.MatchImages) == 0:
		return errors.New("matchImages: missing; name at least one pattern")
	}
	for i, text := range p.MatchImages {
		parsed, err := parsePattern(text)
		if err != nil {
			return fmt.Errorf("matchImages[%d]: %w", i, err)
		}
		p.patterns = append(p.patterns, parsed)
	}
	return nil
}

func (p *provider) matches(repository string) bool {
	return slices.ContainsFunc(p.patterns, func(of pattern) bool { return of.matches(repository) })
}

// cacheFor returns how long an answer is cached if it does not specify a duration.
func (p *provider) cacheFor() time.Duration { return p.DefaultCacheDuration.Duration }
