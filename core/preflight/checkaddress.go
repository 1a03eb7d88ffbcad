package preflight

import (
	"net"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/node"
)

// checkAddress checks that the machine has the configured address of the node, if there is one.
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
