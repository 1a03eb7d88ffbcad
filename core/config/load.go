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

// Base is a configuration to which a file adds keys. Where both have a key, the file's value counts;
// the sources of both are read.
type Base struct {
	// Name is the name of Text in errors. Text has the form of agent.toml; relative paths in it start from
	// Dir.
	Name string
	Text []byte
	Dir  string
	// Locate returns the faults of values of Text at the place that they come from, and leaves out the
	// others.
	Locate func(faults strict.Errors) strict.Errors
}

// LoadOver is Load for a file that adds to a base. path is empty if there is only the base. baseFor
// returns the base; kubeconfig is cluster.kubeconfig of the file, absolute, empty for none.
func LoadOver(baseFor func(kubeconfig string) (*Base, error), path string) (*Config, error) {
	var added *file
	alone := Default()
	if path != "" {
		var err error
		if added, err = open(path); err != nil {
			return nil, err
		}
		if err := added.decode(alone, func(strict.Report) { alone.resolve(added.dir) }); err != nil {
			return nil, err
		}
	}
	base, err := baseFor(alone.Cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	c := Default()
	err = strict.Decode(base.Name, base.Text, c, func(report strict.Report) {
		c.resolve(base.Dir)
		c.check(report)
	})
	faults, _ := errors.AsType[strict.Errors](err)
	if faults = base.Locate(faults); len(faults) > 0 {
		return nil, fmt.Errorf("the configuration cannot be used:\n%w", faults)
	}
	if added == nil {
		if err != nil {
			return nil, fmt.Errorf("the configuration cannot be used:\n%w", err)
		}
		return c.complete(os.Getenv)
	}
	if err := c.add(added); err != nil {
		return nil, err
	}
	return c.complete(os.Getenv)
}

func load(path string, getenv func(string) string) (*Config, error) {
	c := Default()
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := c.add(f); err != nil {
		return nil, err
	}
	return c.complete(getenv)
}

// file is the content of a file, which may be a pipe, and its directory.
type file struct {
	path, dir string
	data      []byte
}

func open(path string) (*file, error) {
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
	return &file{path, dir, data}, nil
}

func (f *file) decode(into *Config, check func(strict.Report)) error {
	if err := strict.Decode(f.path, f.data, into, check); err != nil {
		return fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	return nil
}

// add adds the keys of a file to c, and checks the result.
func (c *Config) add(f *file) error {
	before := c.Sources
	c.Sources = nil
	return f.decode(c, func(report strict.Report) {
		c.Sources = append(c.Sources, before...)
		c.resolve(f.dir)
		c.check(report)
	})
}

// complete sets what follows from the keys, and from the environment.
func (c *Config) complete(getenv func(string) string) (*Config, error) {
	for i := range c.Sources {
		c.Sources[i].complete()
	}
	c.Eviction.complete()
	for i := range c.Runtime.Handlers {
		h := &c.Runtime.Handlers[i]
		h.Handler = cmp.Or(h.Handler, h.Class)
	}
	if c.UsesClusterSet() {
		c.Policy.Dir, c.Policy.RequireSignature = c.clusterSetDir(), true
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
		&c.Paths.StateRoot, &c.Paths.PodRoot, &c.Paths.LogRoot, &c.Paths.CertDir, &c.Paths.Socket, &c.Runtime.ResolvConf,
		&c.Runtime.RegistryConfig, &c.Runtime.CredentialProviderConfig, &c.Runtime.CredentialProviderBinDir, &c.Policy.Dir, &c.Cluster.Kubeconfig, &c.Cluster.BootstrapKubeconfig, &c.NodeAPI.CertFile, &c.NodeAPI.KeyFile, &c.NodeAPI.ClientCAFile,
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
