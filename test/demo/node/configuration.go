package node

import (
	"fmt"
	"os"
)

// ConfigFile is the path of the agent's configuration.
func (n *Node) ConfigFile() string { return n.Path("agent.toml") }

// configure writes the agent's configuration: its roots, the runtime, one directory of manifests and one of policies.
func (n *Node) configure() error {
	text := fmt.Sprintf(`node_name = %q
[paths]
state_root = %q
pod_root = %q
log_root = %q
socket = %q
cgroup_root = %q
[runtime]
endpoint = %q
[[source]]
name = "static"
kind = "file"
path = %q
[policy]
dir = %q
`, Name, n.Path("state"), n.Path("root"), n.Path("log"), n.Path("run", "w.sock"), "/"+n.cgroup(),
		n.runtime.Endpoint(), n.manifests(), n.policies())
	if err := os.WriteFile(n.ConfigFile(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the agent's configuration: %w", err)
	}
	return nil
}
