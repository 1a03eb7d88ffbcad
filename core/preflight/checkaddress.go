package preflight

import (
	"net"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/node"
)

// checkAddress looks for the node's address on the machine, where the configuration names one.
func checkAddress(cfg *config.Config) []Finding {
	text := cfg.Cluster.NodeIP
	if text == "" {
		return nil
	}
	if err := node.HeldIP(net.ParseIP(text)); err != nil {
		return []Finding{{LevelFail, "node_ip " + text, err.Error() + ": write one of the machine's, or leave cluster.node_ip out"}}
	}
	return nil
}
