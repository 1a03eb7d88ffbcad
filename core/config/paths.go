package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/core/strict"
)

// keyedPath is a path with its key in the configuration.
type keyedPath struct{ key, path string }

// policyPlaces returns the directories of policies, the operator's first.
func (c *Config) policyPlaces() (places []keyedPath) {
	if c.Policy.Dir != "" {
		places = append(places, keyedPath{"policy.dir", c.Policy.Dir})
	}
	for i, t := range c.Tenants {
		if t.PolicyDir != "" {
			places = append(places, keyedPath{fmt.Sprintf("tenant[%d].policy_dir", i), t.PolicyDir})
		}
	}
	return places
}

// maxSocketPath is the maximum length of a Unix socket's path, in bytes.
const maxSocketPath = 107

// checkPaths reports paths that conflict with each other: the agent removes unknown files from the
// directories of pods and their logs, and the state directory must not contain manifests.
func (c *Config) checkPaths(report strict.Report) {
	if err := checkCgroupRoot(c.Paths.CgroupRoot); err != nil {
		report("paths.cgroup_root", "%v", err)
	}
	if n := len(c.Paths.Socket); n > maxSocketPath {
		report("paths.socket", "%d bytes long, more than the %d the address of a socket may have", n, maxSocketPath)
	}

	places := []keyedPath{
		{"paths.state_root", c.Paths.StateRoot},
		{"paths.pod_root", c.Paths.PodRoot},
		{"paths.log_root", c.Paths.LogRoot},
		{"paths.cert_dir", c.Paths.CertDir},
		{"paths.socket", c.Paths.Socket},
	}
	for _, p := range places {
		if p.path == "" || p.path == "/" {
			report(p.key, "want a path other than the root, found %q", p.path)
			return
		}
	}
	for i, s := range c.Sources {
		for _, k := range s.fileKeys() {
			if k.path != "" {
				places = append(places, keyedPath{fmt.Sprintf("source[%d].%s", i, k.name), k.path})
			}
		}
		if s.Path == "" {
			continue
		}
		p := keyedPath{fmt.Sprintf("source[%d].path", i), s.Path}
		if within(p.path, c.Paths.StateRoot) {
			report(p.key, "%s lies in paths.state_root (%s), which is the agent's own", p.path, c.Paths.StateRoot)
		}
		places = append(places, p)
	}
	for _, p := range []keyedPath{
		{"cluster.kubeconfig", c.Cluster.Kubeconfig},
		{"cluster.bootstrap_kubeconfig", c.Cluster.BootstrapKubeconfig},
		{"node_api.cert_file", c.NodeAPI.CertFile},
		{"node_api.key_file", c.NodeAPI.KeyFile},
		{"node_api.client_ca_file", c.NodeAPI.ClientCAFile},
		{"objects.dir", c.Objects.Dir},
		{"objects.key_file", c.Objects.KeyFile},
		{"runtime.resolv_conf", c.Runtime.ResolvConf},
		{"runtime.registry_config", c.Runtime.RegistryConfig},
		{"runtime.credential_provider_config", c.Runtime.CredentialProviderConfig},
		{"runtime.credential_provider_bin_dir", c.Runtime.CredentialProviderBinDir},
	} {
		if p.path != "" {
			places = append(places, p)
		}
	}

	policies := c.policyPlaces()
	for i, p := range policies {
		if within(p.path, c.Paths.StateRoot) {
			report(p.key, "%s lies in paths.state_root (%s), which is the agent's own", p.path, c.Paths.StateRoot)
		}
		for i, s := range c.Sources {
			if s.Path == "" {
				continue
			}
			if within(p.path, s.Path) || within(s.Path, p.path) {
				report(p.key, "%s and %s (source[%d].path) lie in each other; policies and manifests need directories of their own", p.path, s.Path, i)
			}
		}
		for _, other := range policies[:i] {
			if within(p.path, other.path) || within(other.path, p.path) {
				report(p.key, "%s and %s (%s) lie in each other; the policies of each owner need a directory of their own", p.path, other.path, other.key)
			}
		}
	}
	places = append(places, policies...)

	identity := filepath.Join(c.Paths.PodRoot, "identity")
	for _, p := range places {
		if within(p.path, identity) {
			report(p.key, "%s lies in %s, where the agent keeps who it is", p.path, identity)
		}
	}
	pods := filepath.Join(c.Paths.PodRoot, "pods")
	logs := filepath.Join(c.Paths.LogRoot, "pods")
	links := filepath.Join(c.Paths.LogRoot, "containers")
	for _, p := range places {
		for _, swept := range []string{pods, logs, links} {
			if within(p.path, swept) {
				report(p.key, "%s lies in %s, from which the agent removes what it does not know", p.path, swept)
			}
		}
	}
	for _, dir := range []string{logs, links} {
		if within(dir, pods) || within(pods, dir) {
			report("paths.log_root", "%s and %s lie in each other; logs need a root apart from paths.pod_root", dir, pods)
		}
	}
}

// within reports whether path is dir or below it. Both must be clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}
