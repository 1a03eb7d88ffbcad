package privateruntime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"text/template"
)

// configTemplate is containerd's configuration. It sets every path that containerd would otherwise
// share with another containerd of the machine.
var configTemplate = template.Must(template.New("containerd").Parse(`version = 3
root = {{printf "%q" .Root}}
state = {{printf "%q" .State}}
temp = {{printf "%q" .Temp}}
imports = []
disabled_plugins = [
  "io.containerd.internal.v1.tracing",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.tracing.processor.v1.otlp",
]

[grpc]
  address = {{printf "%q" .Socket}}

[ttrpc]
  address = {{printf "%q" .TTRPC}}

[plugins."io.containerd.cri.v1.images"]
  snapshotter = {{printf "%q" .Snapshotter}}
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = {{printf "%q" .Sandbox}}
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = {{printf "%q" .RegistryHosts}}

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = {{.DisableAppArmor}}
  netns_mounts_under_state_dir = true
  cdi_spec_dirs = []
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = {{printf "%q" .Runc}}
        Root = {{printf "%q" .RuncRoot}}
        SystemdCgroup = false
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = [{{printf "%q" .Plugins}}]
    conf_dir = {{printf "%q" .Networks}}
    use_internal_loopback = true

[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

[plugins."io.containerd.internal.v1.opt"]
  path = {{printf "%q" .Opt}}

[plugins."io.containerd.nri.v1.nri"]
  disable = true

[plugins."io.containerd.shim.v1.manager"]
  socket_dir = {{printf "%q" .ShimSockets}}
`))

// configValues fill the template.
type configValues struct {
	Root, State, Temp, Socket, TTRPC, Opt string
	Snapshotter, Sandbox, RegistryHosts   string
	Runc, RuncRoot, Plugins, Networks     string
	ShimSockets                           string
	DisableAppArmor                       bool
}

// renderConfig returns containerd's configuration for a runtime.
func renderConfig(i instance, runc, plugins string, disableAppArmor bool) (string, error) {
	var text strings.Builder
	err := configTemplate.Execute(&text, configValues{
		Root: i.daemonRoot(), State: i.daemonState(), Temp: i.temporary(),
		Socket: i.socket(), TTRPC: i.socket() + ".ttrpc", Opt: i.Dir + "/opt",
		Snapshotter: i.Snapshotter, Sandbox: sandboxImage, RegistryHosts: i.registryHosts(),
		Runc: runc, RuncRoot: i.runcRoot(), Plugins: plugins, Networks: i.networks(),
		ShimSockets: i.shimSockets(), DisableAppArmor: disableAppArmor,
	})
	if err != nil {
		return "", fmt.Errorf("render containerd's configuration: %w", err)
	}
	return text.String(), nil
}

// appArmorUsable reports whether containers can be confined: the kernel enforces profiles and the
// parser is installed.
func appArmorUsable() bool {
	enabled, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	if err != nil || strings.TrimSpace(string(enabled)) != "Y" {
		return false
	}
	_, err = lookSystem("apparmor_parser")
	return err == nil
}

// runDir has one directory per runtime of the machine. Paths below it are short enough for sockets.
const runDir = "/run/wardlet-test"

// stateDir returns the directory of a runtime's sockets, state and configuration.
func stateDir(name string) string { return filepath.Join(runDir, name) }

// networkName returns the name of a runtime's CNI network; it marks the network's iptables rules
// and CNI cache files.
func networkName(name string) string { return "wardlet-test-" + name }

// bridgeName returns the link of a runtime's CNI network, within the kernel's 15 bytes.
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

// daemonState returns containerd's own state directory: task bundles, network namespaces, shared
// memory.
func (i instance) daemonState() string { return filepath.Join(i.stateDir(), "state") }

// runcRoot returns the directory in which runc keeps the state of the runtime's containers.
func (i instance) runcRoot() string { return filepath.Join(i.stateDir(), "runc") }

// networks returns the directory of the CNI configuration.
func (i instance) networks() string { return filepath.Join(i.stateDir(), "net.d") }

// addresses returns the directory in which host-local records the addresses in use.
func (i instance) addresses() string { return filepath.Join(i.stateDir(), "addresses") }

// daemonRoot returns containerd's persistent directory: content, snapshots, metadata.
func (i instance) daemonRoot() string { return filepath.Join(i.Dir, "root") }

// registryHosts returns the certs.d directory, which configures how registries are reached.
func (i instance) registryHosts() string { return filepath.Join(i.Dir, "certs.d") }

func (i instance) temporary() string { return filepath.Join(i.Dir, "tmp") }
func (i instance) logFile() string   { return filepath.Join(i.Dir, "containerd.log") }

// Options select the runtime to start. The zero value is valid.
type Options struct {
	// Name distinguishes the runtime from others on the machine: at most 20 lower-case letters,
	// digits and inner dashes. Empty: a name that no other runtime has.
	Name string
	// Dir has images, snapshots and the log. It must be empty or not exist. Stop empties it again,
	// and removes it if Start made it. Empty: build/runtime/NAME in the repository.
	Dir string
	// reclaim reports whether Dir was left empty by the caller: then the directory is this
	// package's own.
	reclaim bool
}

// namePattern keeps the paths of shim sockets short: containerd limits their directory to 42 bytes.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$`)

// started numbers the runtimes that this process named itself.
var started atomic.Int64

// complete checks the options and sets those that were left empty.
func (o Options) complete(repository string) (Options, error) {
	if o.Name == "" {
		o.Name = "t-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(started.Add(1), 10)
	}
	if err := checkName(o.Name); err != nil {
		return Options{}, err
	}
	if o.Dir == "" {
		o.Dir, o.reclaim = filepath.Join(repository, "build", "runtime", o.Name), true
	}
	absolute, err := filepath.Abs(o.Dir)
	if err != nil {
		return Options{}, fmt.Errorf("make the directory of runtime %s absolute: %w", o.Name, err)
	}
	o.Dir = absolute
	return o, nil
}

func checkName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("runtime name %q: use 1 to 20 lower-case letters, digits and inner dashes", name)
	}
	return nil
}
