package config

import (
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// Cluster makes the agent a node of a Kubernetes cluster. If Kubeconfig is empty, the agent is in
// no cluster, and all other fields are empty.
type Cluster struct {
	// Kubeconfig is the file that names the API server and the node's credentials, absolute.
	Kubeconfig string `toml:"kubeconfig"`
	// BootstrapKubeconfig is a kubeconfig whose credentials may only request those of the node. With it,
	// Kubeconfig need not exist: it is written when the cluster has signed the node's certificate. It is
	// absolute, or empty.
	BootstrapKubeconfig string `toml:"bootstrap_kubeconfig"`
	// RotateCertificates renews the client certificate of Kubeconfig before it expires.
	RotateCertificates bool `toml:"rotate_certificates"`
	// NodeIP is the node's address for the cluster; empty for that of the interface with the default route.
	NodeIP string `toml:"node_ip"`
	// DNS are the addresses of the cluster's name servers, at most 3.
	DNS []string `toml:"dns"`
	// Domain is the domain of the cluster's names.
	Domain string `toml:"domain"`
}

// DefaultDomain is the default of Cluster.Domain.
const DefaultDomain = "cluster.local"

// maxNameservers is the number of name servers that a resolver uses.
const maxNameservers = 3

func (c *Cluster) check(report strict.Report) {
	for _, key := range []struct {
		name string
		said bool
	}{{"bootstrap_kubeconfig", c.BootstrapKubeconfig != ""}, {"rotate_certificates", c.RotateCertificates}, {"node_ip", c.NodeIP != ""}, {"dns", len(c.DNS) > 0}, {"domain", c.Domain != DefaultDomain}} {
		if key.said && c.Kubeconfig == "" {
			report("cluster."+key.name, "is for a node of a cluster; name its kubeconfig in cluster.kubeconfig")
		}
	}
	if c.NodeIP != "" {
		c.checkNodeIP(report)
	}
	if len(c.DNS) > maxNameservers {
		report("cluster.dns", "want at most %d name servers, found %d", maxNameservers, len(c.DNS))
	}
	for i, address := range c.DNS {
		if _, err := netip.ParseAddr(address); err != nil {
			report(fmt.Sprintf("cluster.dns[%d]", i), "want an IP address, found %q", address)
		}
	}
	for _, fault := range validation.IsDNS1123Subdomain(c.Domain) {
		report("cluster.domain", "%q is no domain: %s", c.Domain, fault)
	}
}

// Renews reports whether the agent keeps its own client certificate valid.
func (c *Cluster) Renews() bool { return c.RotateCertificates || c.BootstrapKubeconfig != "" }

// checkNodeIP reports addresses that a kubelet refuses as its node's. Whether the machine has the
// address is checked at run time.
func (c *Cluster) checkNodeIP(report strict.Report) {
	ip, err := netip.ParseAddr(c.NodeIP)
	if err != nil || ip.Zone() != "" {
		report("cluster.node_ip", "want an IP address, found %q", c.NodeIP)
		return
	}
	ip = ip.Unmap()
	for _, kind := range []struct {
		name string
		is   bool
	}{{"loopback", ip.IsLoopback()}, {"unspecified", ip.IsUnspecified()}, {"multicast", ip.IsMulticast()}, {"link-local", ip.IsLinkLocalUnicast()}} {
		if kind.is {
			report("cluster.node_ip", "the cluster cannot reach this node at the %s address %s; "+
				"write another one of this machine, or leave node_ip out for that of the interface with the default route", kind.name, c.NodeIP)
		}
	}
}

// replacement returns the text that replaces a source of KindAPI, which earlier versions supported.
func (s *Source) replacement() string {
	var cluster, user []string
	add := func(to *[]string, key, value string) {
		if value != "" {
			*to = append(*to, fmt.Sprintf("%s: %q", key, value))
		}
	}
	add(&cluster, "server", s.URL)
	add(&cluster, "certificate-authority", s.CAFile)
	add(&user, "tokenFile", s.TokenFile)
	add(&user, "client-certificate", s.ClientCertFile)
	add(&user, "client-key", s.ClientKeyFile)
	return fmt.Sprintf(`the pods of an API server come with [cluster]; replace this source by
[cluster]
kubeconfig = "/etc/wardlet/kubeconfig"
and write to that file:
apiVersion: v1
kind: Config
current-context: node
contexts: [{name: node, context: {cluster: node, user: node}}]
clusters: [{name: node, cluster: {%s}}]
users: [{name: node, user: {%s}}]`, strings.Join(cluster, ", "), strings.Join(user, ", "))
}
