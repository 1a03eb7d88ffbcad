package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/core/strict"
)

// EndpointVariable is the environment variable that overrides runtime.endpoint, as for other CRI
// tools.
const EndpointVariable = "CONTAINER_RUNTIME_ENDPOINT"

// Load reads, checks and completes the file at path. Relative paths in it start from its directory.
// The error has every fault, as in strict.Decode.
func Load(path string) (*Config, error) { return load(path, os.Getenv) }

func load(path string, getenv func(string) string) (*Config, error) {
	data, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot read the configuration: %w; name another file with --config, or begin with a copy of agent.toml", err)
	case err != nil:
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("cannot tell the directory of %s: %w", path, err)
	}
	c := Default()
	err = strict.Decode(path, data, c, func(report strict.Report) {
		c.resolve(dir)
		c.check(report)
	})
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	for i := range c.Sources {
		c.Sources[i].complete()
	}
	c.Eviction.complete()
	for i := range c.Runtime.Handlers {
		h := &c.Runtime.Handlers[i]
		h.Handler = cmp.Or(h.Handler, h.Class)
	}
	if c.Cluster.Kubeconfig != "" {
		c.Sources = append(c.Sources, Source{Name: NameAPI, Kind: KindAPI, Path: c.Cluster.Kubeconfig})
	}
	if endpoint := getenv(EndpointVariable); endpoint != "" {
		if err := checkEndpoint(endpoint); err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", EndpointVariable, err)
		}
		c.Runtime.Endpoint = endpoint
	}
	return c, nil
}

// resolve makes the paths of files absolute and clean.
func (c *Config) resolve(dir string) {
	paths := []*string{
		&c.Paths.StateRoot, &c.Paths.PodRoot, &c.Paths.LogRoot, &c.Paths.Socket, &c.Runtime.ResolvConf,
		&c.Runtime.RegistryConfig, &c.Runtime.CredentialProviderConfig, &c.Runtime.CredentialProviderBinDir, &c.Policy.Dir, &c.Cluster.Kubeconfig, &c.NodeAPI.CertFile, &c.NodeAPI.KeyFile, &c.NodeAPI.ClientCAFile,
		&c.Objects.Dir, &c.Objects.KeyFile,
	}
	for i := range c.Tenants {
		paths = append(paths, &c.Tenants[i].PolicyDir)
	}
	for i := range c.Sources {
		s := &c.Sources[i]
		paths = append(paths, &s.Path, &s.HeaderFile, &s.CAFile, &s.TokenFile, &s.ClientCertFile, &s.ClientKeyFile)
	}
	for _, path := range paths {
		switch {
		case *path == "":
		case filepath.IsAbs(*path):
			*path = filepath.Clean(*path)
		default:
			*path = filepath.Join(dir, *path)
		}
	}
}

// read reads a file up to the maximum size, because --config may name a pipe or a device.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strict.MaxSize+1))
}
