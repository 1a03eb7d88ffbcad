package config

import (
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

const (
	// maxParallelPulls is the maximum of runtime.parallel_pulls. minPullProgress is the minimum of
	// runtime.pull_progress_timeout, because the CRI updates the size of an image only every 10 s.
	maxParallelPulls = 64
	minPullProgress  = 10 * time.Second
	// maxPrepull is the maximum number of images in runtime.prepull.
	maxPrepull = 1000
)

// checkPulls checks the settings for pulls. An image's name is checked when it is pulled.
func (r *Runtime) checkPulls(report strict.Report) {
	if r.ParallelPulls < 1 || r.ParallelPulls > maxParallelPulls {
		report("runtime.parallel_pulls", "want 1 to %d, found %d", maxParallelPulls, r.ParallelPulls)
	}
	if r.PullProgressTimeout < minPullProgress {
		report("runtime.pull_progress_timeout", "want %s or more, found %s", minPullProgress, r.PullProgressTimeout)
	}
	oneOf(report, "runtime.offline_pull", r.OfflinePull, OfflineFallback, OfflineNever)
	known := map[string]bool{}
	for i, name := range r.Prepull {
		switch at := fmt.Sprintf("runtime.prepull[%d]", i); {
		case i >= maxPrepull:
			report(at, "at most %d images can be named", maxPrepull)
			return
		case name == "":
			report(at, `want the name of an image, for example "registry.example/app:1"`)
		case known[name]:
			report(at, "%q is named twice", name)
		}
		known[name] = true
	}
	switch config, dir := r.CredentialProviderConfig, r.CredentialProviderBinDir; {
	case config != "" && dir == "":
		report("runtime.credential_provider_config", "needs runtime.credential_provider_bin_dir, where the programs of the providers lie")
	case config == "" && dir != "":
		report("runtime.credential_provider_bin_dir", "needs runtime.credential_provider_config, which names the programs there")
	}
}

// Objects configures where the ConfigMaps, Secrets and RuntimeClasses for the node's own pods are.
type Objects struct {
	// Dir is a directory of manifests, absolute, that only its owner can read; empty for none.
	Dir string `toml:"dir"`
	// KeyFile is a file of random bytes, absolute, with which the Secrets of pods are encrypted on the
	// disk. If it is empty, the agent uses a credential of the service, or else a generated key.
	KeyFile string `toml:"key_file"`
}

// checkObjects requires a directory that is used for nothing else.
func (c *Config) checkObjects(report strict.Report) {
	dir := c.Objects.Dir
	if dir == "" {
		return
	}
	if within(dir, c.Paths.StateRoot) {
		report("objects.dir", "%s lies in paths.state_root (%s), which is the agent's own", dir, c.Paths.StateRoot)
	}
	for i, s := range c.Sources {
		if s.Path != "" && (within(dir, s.Path) || within(s.Path, dir)) {
			report("objects.dir", "%s and %s (source[%d].path) lie in each other; objects and pods need directories of their own", dir, s.Path, i)
		}
	}
	for _, p := range c.policyPlaces() {
		if within(dir, p.path) || within(p.path, dir) {
			report("objects.dir", "%s and %s (%s) lie in each other; objects and policies need directories of their own", dir, p.path, p.key)
		}
	}
}
