package config

import "testing"

const certificates = "cert_file = \"/etc/wardlet/node.crt\"\nkey_file = \"/etc/wardlet/node.key\"\nclient_ca_file = \"/etc/wardlet/clients.crt\"\n"

func TestNodeAPI_refused(t *testing.T) {
	t.Parallel()
	const table = source + "[node_api]\n"
	for name, test := range map[string]struct{ text, want string }{
		"no authorities of clients": {
			table + "cert_file = \"/etc/wardlet/node.crt\"\nkey_file = \"/etc/wardlet/node.key\"\n",
			"agent.toml:6: node_api.cert_file: nothing is served over HTTPS without client_ca_file, which says who may use it; " +
				"for health and pods without a login there are read_only_listen and healthz_listen\n",
		},
		"a certificate without a key": {
			table + "cert_file = \"/etc/wardlet/node.crt\"\nclient_ca_file = \"/etc/wardlet/clients.crt\"\n",
			"agent.toml:5: node_api.key_file: missing; cert_file and key_file go together\n",
		},
		"a certificate of a cluster for a node without one": {
			table + "server_tls_bootstrap = true\nclient_ca_file = \"/etc/wardlet/clients.crt\"\n",
			"agent.toml:6: node_api.server_tls_bootstrap: is for a node of a cluster; name its kubeconfig in cluster.kubeconfig\n",
		},
		"two certificates": {
			table + certificates + "server_tls_bootstrap = true\n[cluster]\nkubeconfig = \"/etc/wardlet/kubeconfig\"\n",
			"agent.toml:9: node_api.server_tls_bootstrap: the certificate is either requested or that of cert_file; leave out one of them\n",
		},
		"an address without certificates": {
			table + "listen = \"0.0.0.0:10250\"\n",
			"agent.toml:6: node_api.listen: nothing is served over HTTPS without client_ca_file, which says who may use it; " +
				"for health and pods without a login there are read_only_listen and healthz_listen\n",
		},
		"an address without a port": {
			table + certificates + "listen = \"10.0.0.2\"\n",
			"agent.toml:9: node_api.listen: want an IP address, or none, and a port, for example \":10250\", found \"10.0.0.2\"\n",
		},
		"read-only for other machines": {
			table + "read_only_listen = \"0.0.0.0:10255\"\n",
			"agent.toml:6: node_api.read_only_listen: 0.0.0.0 is not an address of this machine's own (127.0.0.0/8 or ::1): it is served without a login; " +
				"to have it read from elsewhere, put a proxy that asks for one before 127.0.0.1:10255\n",
		},
		"health at no address": {
			table + "healthz_listen = \"10248\"\n",
			"agent.toml:6: node_api.healthz_listen: want an IP address and a port, for example \"127.0.0.1:10248\", found \"10248\"\n",
		},
		"two at one address": {
			table + "read_only_listen = \"127.0.0.1:10248\"\nhealthz_listen = \"127.0.0.1:10248\"\n",
			"agent.toml:7: node_api.healthz_listen: 127.0.0.1:10248 is the address of node_api.read_only_listen, too; write another port\n",
		},
		"the address of the metrics": {
			table + "read_only_listen = \"127.0.0.1:9095\"\n[metrics]\nlisten = \"127.0.0.1:9095\"\n",
			"agent.toml:6: node_api.read_only_listen: 127.0.0.1:9095 is the address of metrics.listen, too; write another port\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func TestNodeAPI_needsNoCluster(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, source+"[node_api]\n"+certificates+"read_only_listen = \"127.0.0.1:10255\"\nhealthz_listen = \"[::1]:10248\"\n"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if n := c.NodeAPI; !n.Served() || n.Port() != 10250 || n.ReadOnlyListen != "127.0.0.1:10255" || n.HealthzListen != "[::1]:10248" {
		t.Errorf("read: %+v", n)
	}
	if c, err = load(write(t, source), noEnv); err != nil || c.NodeAPI.Served() || c.NodeAPI.ReadOnlyListen+c.NodeAPI.HealthzListen != "" {
		t.Errorf("by default: %+v, %v", c.NodeAPI, err)
	}
}
