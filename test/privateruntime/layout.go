package privateruntime

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// runDir holds one directory per runtime of the machine; below it paths stay short enough for sockets.
const runDir = "/run/wardlet-test"

// stateDir is the directory of a runtime's sockets, state and configuration.
func stateDir(name string) string { return filepath.Join(runDir, name) }

// networkName is the name of a runtime's CNI network; it marks its iptables rules and CNI cache files.
func networkName(name string) string { return "wardlet-test-" + name }

// bridgeName is the link of a runtime's CNI network, within the kernel's 15 bytes.
func bridgeName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "wardlet-" + hex.EncodeToString(sum[:3])
}

func (i instance) stateDir() string   { return stateDir(i.Name) }
func (i instance) socket() string     { return filepath.Join(i.stateDir(), "containerd.sock") }
func (i instance) configFile() string { return filepath.Join(i.stateDir(), "config.toml") }
func (i instance) shimSockets() string {
	return filepath.Join(i.stateDir(), "s")
}

// daemonState is containerd's own state directory: task bundles, network namespaces, shared memory.
func (i instance) daemonState() string { return filepath.Join(i.stateDir(), "state") }

// runcRoot is where runc keeps the state of the runtime's containers.
func (i instance) runcRoot() string { return filepath.Join(i.stateDir(), "runc") }

// networks is the directory of the CNI configuration.
func (i instance) networks() string { return filepath.Join(i.stateDir(), "net.d") }

// addresses is where host-local records the addresses in use.
func (i instance) addresses() string { return filepath.Join(i.stateDir(), "addresses") }

// daemonRoot is containerd's persistent directory: content, snapshots, metadata.
func (i instance) daemonRoot() string { return filepath.Join(i.Dir, "root") }

// registryHosts is the certs.d directory that says how registries are reached.
func (i instance) registryHosts() string { return filepath.Join(i.Dir, "certs.d") }

func (i instance) temporary() string { return filepath.Join(i.Dir, "tmp") }
func (i instance) logFile() string   { return filepath.Join(i.Dir, "containerd.log") }
