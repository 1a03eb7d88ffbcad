package config

import "github.com/wardlet/wardlet/core/strict"

// Objects says where the ConfigMaps, Secrets and RuntimeClasses lie that the node's own pods name.
type Objects struct {
	// Dir is a directory of manifests, absolute, that only its owner may read; empty for none.
	Dir string `toml:"dir"`
	// KeyFile is a file of random bytes, absolute, by which the Secrets that pods use are encrypted on the disk; empty for
	// a credential of the service, or else a key that the agent makes.
	KeyFile string `toml:"key_file"`
}

// checkObjects wants a directory of its own.
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
