package config

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/wardlet/wardlet/core/strict"
)

// NodeAPI configures where the Kubernetes API of a node is served: over HTTPS with certificates,
// and without authentication to this machine only. All of it is off by default.
type NodeAPI struct {
	// Listen is the address for HTTPS: an IP address, or none for all addresses of the machine, and a
	// port.
	Listen string `toml:"listen"`
	// CertFile and KeyFile are the server's certificate and its key. ClientCAFile has the authorities
	// that sign certificates of clients. All are PEM and absolute. Without CertFile and KeyFile, which go
	// together, the agent makes a certificate; without ClientCAFile nothing is served over HTTPS.
	CertFile     string `toml:"cert_file"`
	KeyFile      string `toml:"key_file"`
	ClientCAFile string `toml:"client_ca_file"`
	// ServerTLSBootstrap requests the certificate from the node's cluster, and renews it.
	ServerTLSBootstrap bool `toml:"server_tls_bootstrap"`
	// SystemLogs serves the logs of the machine: files of /var/log, and the journal.
	SystemLogs bool `toml:"system_logs"`
	// ReadOnlyListen and HealthzListen are loopback addresses with a port. The first serves health,
	// pods and metrics, the second only health, to every client; empty for none.
	ReadOnlyListen string `toml:"read_only_listen"`
	HealthzListen  string `toml:"healthz_listen"`
}

// DefaultNodeAPI is the default of NodeAPI.Listen.
const DefaultNodeAPI = ":10250"

// Served reports whether the API is served over HTTPS.
func (n *NodeAPI) Served() bool { return n.ClientCAFile != "" }

// Port returns the port for HTTPS.
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
	for _, key := range []struct{ name, value, other string }{{"cert_file", n.CertFile, n.KeyFile}, {"key_file", n.KeyFile, n.CertFile}} {
		if key.value == "" && key.other != "" {
			report("node_api."+key.name, "missing; cert_file and key_file go together")
		}
	}
	for _, key := range []struct {
		name string
		said bool
	}{{"cert_file", n.CertFile != ""}, {"server_tls_bootstrap", n.ServerTLSBootstrap}, {"system_logs", n.SystemLogs}, {"listen", n.Listen != DefaultNodeAPI}} {
		if key.said && !n.Served() {
			report("node_api."+key.name, "nothing is served over HTTPS without client_ca_file, which says who may use it; "+
				"for health and pods without a login there are read_only_listen and healthz_listen")
		}
	}
	switch {
	case n.ServerTLSBootstrap && c.Cluster.Kubeconfig == "":
		report("node_api.server_tls_bootstrap", "is for a node of a cluster; name its kubeconfig in cluster.kubeconfig")
	case n.ServerTLSBootstrap && n.CertFile != "":
		report("node_api.server_tls_bootstrap", "the certificate is either requested or that of cert_file; leave out one of them")
	}
	c.checkOpenPorts(report)
}

// checkOpenPorts checks the addresses without authentication.
func (c *Config) checkOpenPorts(report strict.Report) {
	taken := map[string]string{}
	if c.Metrics.Listen != "" {
		taken[c.Metrics.Listen] = "metrics.listen"
	}
	for _, key := range []struct{ name, value, example string }{
		{"node_api.read_only_listen", c.NodeAPI.ReadOnlyListen, "127.0.0.1:10255"},
		{"node_api.healthz_listen", c.NodeAPI.HealthzListen, "127.0.0.1:10248"},
	} {
		if key.value == "" {
			continue
		}
		if err := checkListen(key.value, key.example); err != nil {
			report(key.name, "%v", err)
		}
		if other := taken[key.value]; other != "" {
			report(key.name, "%s is the address of %s, too; write another port", key.value, other)
		}
		taken[key.value] = key.name
	}
}
