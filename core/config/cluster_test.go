package config

import "testing"

func TestCluster_refused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"an address without a cluster": {
			source + "[cluster]\nnode_ip = \"10.0.0.2\"\n",
			"agent.toml:6: cluster.node_ip: is for a node of a cluster; name its kubeconfig in cluster.kubeconfig\n",
		},
		"an address that is none": {
			member + "node_ip = \"node\"\n", "agent.toml:3: cluster.node_ip: want an IP address, found \"node\"\n",
		},
		"an address with a zone": {
			member + "node_ip = \"fd00::1%eth0\"\n", "agent.toml:3: cluster.node_ip: want an IP address, found \"fd00::1%eth0\"\n",
		},
		"a loopback address":               {member + "node_ip = \"127.0.0.1\"\n", unreachable("127.0.0.1", "loopback")},
		"a loopback address as IPv6":       {member + "node_ip = \"::ffff:127.0.0.1\"\n", unreachable("::ffff:127.0.0.1", "loopback")},
		"an unspecified address":           {member + "node_ip = \"::\"\n", unreachable("::", "unspecified")},
		"a multicast address":              {member + "node_ip = \"224.0.0.9\"\n", unreachable("224.0.0.9", "multicast")},
		"a multicast address of all nodes": {member + "node_ip = \"ff02::1\"\n", unreachable("ff02::1", "multicast")},
		"a link-local address":             {member + "node_ip = \"169.254.1.1\"\n", unreachable("169.254.1.1", "link-local")},
		"a name server by name": {
			member + "dns = [\"10.96.0.10\", \"dns\"]\n", "agent.toml:3: cluster.dns: want an IP address, found \"dns\"\n",
		},
		"more name servers than a resolver asks": {
			member + "dns = [\"1.1.1.1\", \"1.1.1.2\", \"1.1.1.3\", \"1.1.1.4\"]\n", "agent.toml:3: cluster.dns: want at most 3 name servers, found 4\n",
		},
		"a domain that is none": {
			member + "domain = \"a b\"\n", "agent.toml:3: cluster.domain: \"a b\" is no domain: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func unreachable(address, kind string) string {
	return "agent.toml:3: cluster.node_ip: the cluster cannot reach this node at the " + kind + " address " + address +
		"; write another one of this machine, or leave node_ip out for that of the interface with the default route\n"
}

func TestCluster_taken(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, member+"node_ip = \"fd00::1\"\ndns = [\"10.96.0.10\"]\ndomain = \"edge.example\"\n"+
		"[conflicts]\nrule = \"precedence\"\nprecedence = [\"api\"]\n"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 1 || c.Sources[0].Location() != "/etc/wardlet/kubeconfig" {
		t.Errorf("sources %+v, want the API server's alone", c.Sources)
	}
}
