package privateruntime

import (
	"fmt"
	"os"
	"strings"
	"text/template"
)

// configTemplate is containerd's configuration. Every path that containerd would otherwise share with another containerd
// of the machine is set.
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

// appArmorUsable tells whether containers can be confined: the kernel enforces profiles and the parser is installed.
func appArmorUsable() bool {
	enabled, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	if err != nil || strings.TrimSpace(string(enabled)) != "Y" {
		return false
	}
	_, err = lookSystem("apparmor_parser")
	return err == nil
}
