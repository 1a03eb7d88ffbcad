package parts

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/source/apiserver"
	"github.com/wardlet/wardlet/core/source/file"
	"github.com/wardlet/wardlet/core/source/http"
)

// SourceNames returns the names of the sources, in the order of agent.toml.
func SourceNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Sources {
		names = append(names, s.Name)
	}
	return names
}

// The limits of a tenant's directory, because the tenant fills it, not the operator.
const (
	tenantFiles = 2048
	tenantBytes = 32 << 20
)

// maxFiles and maxBytes return the limits of a directory; zero means the default of package file.
func maxFiles(s *config.Source) int {
	if s.Tenant != "" {
		return tenantFiles
	}
	return 0
}

func maxBytes(s *config.Source) int64 {
	if s.Tenant != "" {
		return tenantBytes
	}
	return 0
}

// SourceSetting has the dependencies of a source beside its configuration.
type SourceSetting struct {
	Node       string
	Namespaces []string
	Sink       source.Sink
	// Ignored is called with the entries of a directory that are not read.
	Ignored func(*api.Ignored)
	// API is the client of the API server; nil if no source needs it.
	API *kube.Client
	// Place and Log are nil for a source that is read once.
	Place file.Place
	Log   *slog.Logger
}

// NewSource returns a source of the configured kind.
func NewSource(s *config.Source, with SourceSetting) (source.Source, error) {
	switch s.Kind {
	case config.KindFile:
		return file.New(file.Config{
			Name: s.Name, Path: s.Path, NodeName: with.Node, Namespaces: with.Namespaces, Sink: with.Sink, Period: s.Period,
			MissingEmpty: s.MissingPath == config.MissingEmpty, Place: with.Place, Ignored: with.Ignored, Logger: with.Log, Now: time.Now,
			MaxFiles: maxFiles(s), MaxBytes: maxBytes(s),
		}), nil
	case config.KindHTTP:
		return http.New(http.Config{
			Name: s.Name, URL: s.URL, NodeName: with.Node, Namespaces: with.Namespaces, Sink: with.Sink,
			Period: s.Period, Timeout: s.Timeout, HeaderFile: s.HeaderFile,
			CAFile: s.CAFile, ClientCertFile: s.ClientCertFile, ClientKeyFile: s.ClientKeyFile,
			Logger: with.Log, Jitter: Jitter,
		}), nil
	case config.KindAPI:
		return apiserver.New(apiserver.Config{
			Name: s.Name, NodeName: with.Node, Client: with.API, Sink: with.Sink, Logger: with.Log, Now: time.Now,
		})
	}
	return nil, fmt.Errorf("kind %q has no reader", s.Kind)
}
