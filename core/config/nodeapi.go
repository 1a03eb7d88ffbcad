package config

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/wardlet/wardlet/core/strict"
)

// NodeAPI says where the API is served that Kubernetes asks of its nodes. Without certificates it is not.
type NodeAPI struct {
	// Listen is an IP address, or nothing for all of the machine's, and a port.
	Listen string `toml:"listen"`
	// CertFile and KeyFile are the server's certificate and its key, ClientCAFile has the authorities that sign
	// certificates of clients; all PEM, absolute, and all three or none.
	CertFile     string `toml:"cert_file"`
	KeyFile      string `toml:"key_file"`
	ClientCAFile string `toml:"client_ca_file"`
}

// DefaultNodeAPI is the default of NodeAPI.Listen.
const DefaultNodeAPI = ":10250"

// Served reports whether the API is.
func (n *NodeAPI) Served() bool { return n.CertFile != "" }

// Port is the port that it is served on.
func (n *NodeAPI) Port() int {
	_, port, _ := net.SplitHostPort(n.Listen)
	number, _ := strconv.Atoi(port) // it is checked
	return number
}

func (c *Config) checkNodeAPI(report strict.Report) {
	n := &c.NodeAPI
	host, port, err := net.SplitHostPort(n.Listen)
	number, portErr := strconv.ParseUint(port, 10, 16)
	_, hostErr := netip.ParseAddr(host)
	if err != nil || portErr != nil || number == 0 || host != "" && hostErr != nil {
		report("node_api.listen", "want an IP address, or none, and a port, for example %q, found %q", DefaultNodeAPI, n.Listen)
	}
	keys := []struct{ name, value string }{{"cert_file", n.CertFile}, {"key_file", n.KeyFile}, {"client_ca_file", n.ClientCAFile}}
	said := n.CertFile + n.KeyFile + n.ClientCAFile
	for _, key := range keys {
		if said != "" && key.value == "" {
			report("node_api."+key.name, "missing; cert_file, key_file and client_ca_file go together")
		}
	}
	if said != "" && c.Cluster.Kubeconfig == "" {
		report("node_api.cert_file", "is for a node of a cluster, whose API server says who may: name its kubeconfig in cluster.kubeconfig")
	}
}
