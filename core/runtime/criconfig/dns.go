package criconfig

import (
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The limits of the C library's resolver, as a kubelet keeps them.
const (
	maxNameservers  = 3
	maxSearches     = 32
	maxSearchLen    = 253
	maxSearchesChar = 2048
)

// dnsConfig returns the pod's resolver configuration, and notices about parts of the request that
// could not be met. If the cluster has no name servers, ClusterFirst means the node's
// configuration.
func (b *Builder) dnsConfig(p *v1.Pod) (*runtimeapi.DNSConfig, []Notice, error) {
	dns := &runtimeapi.DNSConfig{}
	var notices []Notice
	if p.Spec.DNSPolicy != v1.DNSNone {
		var err error
		if dns, err = b.nodeDNS(); err != nil {
			return nil, nil, err
		}
	}
	switch wants, explicit := wantsClusterDNS(p); {
	case wants && len(b.config.ClusterDNS) > 0:
		dns = b.clusterDNS(p, dns)
	case explicit:
		notices = append(notices, Notice{
			Reason:  "MissingClusterDNS",
			Message: fmt.Sprintf("no cluster DNS is configured: dnsPolicy %s gives the node's DNS; set dnsPolicy: Default, or cluster.dns in agent.toml", p.Spec.DNSPolicy),
		})
	}
	if c := p.Spec.DNSConfig; c != nil {
		dns.Servers = unique(append(dns.Servers, c.Nameservers...))
		dns.Searches = unique(append(dns.Searches, c.Searches...))
		dns.Options = mergeOptions(dns.Options, c.Options)
	}
	if cut := limitDNS(dns); len(cut) > 0 {
		notices = append(notices, Notice{
			Reason:  "DNSConfigForming",
			Message: "DNS limits were exceeded and these entries omitted: " + strings.Join(cut, ", "),
		})
	}
	return dns, notices, nil
}

// wantsClusterDNS reports whether a pod should use the cluster's DNS, and whether its spec asks for
// that explicitly. ClusterFirst is the default of nearly all pods, so it does not count as
// explicit.
func wantsClusterDNS(p *v1.Pod) (wants, explicit bool) {
	switch p.Spec.DNSPolicy {
	case v1.DNSClusterFirstWithHostNet:
		return true, true
	case v1.DNSClusterFirst:
		return !p.Spec.HostNetwork, false
	}
	return false, false
}

// clusterDNS returns a configuration with the cluster's name servers, which looks up names in the
// pod's namespace first.
func (b *Builder) clusterDNS(p *v1.Pod, node *runtimeapi.DNSConfig) *runtimeapi.DNSConfig {
	domain := b.config.ClusterDomain
	return &runtimeapi.DNSConfig{
		Servers:  slices.Clone(b.config.ClusterDNS),
		Searches: unique(slices.Concat([]string{p.Namespace + ".svc." + domain, "svc." + domain, domain}, node.Searches)),
		Options:  []string{"ndots:5"},
	}
}

// nodeDNS returns the node's resolver configuration. Without a resolv.conf it returns one with
// which no name can be looked up, because otherwise the runtime would choose a default.
func (b *Builder) nodeDNS() (*runtimeapi.DNSConfig, error) {
	if b.config.ResolvConf == "" {
		return &runtimeapi.DNSConfig{Servers: []string{"127.0.0.1"}, Searches: []string{"."}}, nil
	}
	content, err := os.ReadFile(b.config.ResolvConf)
	if err != nil {
		return nil, fmt.Errorf("DNS of the node: %w", err)
	}
	return parseResolvConf(string(content)), nil
}

// CheckResolvConf returns why pods cannot have everything that the node's resolver configuration has,
// nil if they can. path is its file. clusterDomain is the domain whose names come first for most
// pods, empty for a node without a cluster's DNS.
func CheckResolvConf(path, clusterDomain string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("DNS of the node: %w; until it can be read, no pod starts that uses it", err)
	}
	dns := parseResolvConf(string(content))
	if clusterDomain != "" {
		dns.Searches = slices.Concat([]string{"default.svc." + clusterDomain, "svc." + clusterDomain, clusterDomain}, dns.Searches)
	}
	if cut := limitDNS(dns); len(cut) > 0 {
		return fmt.Errorf("%s has more than pods can use (%d name servers, %d search domains of together %d characters, 3 of them for a cluster); left out: %s",
			path, maxNameservers, maxSearches, maxSearchesChar, strings.Join(cut, ", "))
	}
	return nil
}

// mergeOptions adds the pod's options, which replace those of the same name.
func mergeOptions(options []string, own []v1.PodDNSConfigOption) []string {
	for _, o := range own {
		text := o.Name
		if o.Value != nil && *o.Value != "" {
			text += ":" + *o.Value
		}
		same := slices.IndexFunc(options, func(old string) bool {
			name, _, _ := strings.Cut(old, ":")
			return name == o.Name
		})
		if same < 0 {
			options = append(options, text)
		} else {
			options[same] = text
		}
	}
	return options
}

// limitDNS removes the entries that a resolver would not read, and returns them.
func limitDNS(dns *runtimeapi.DNSConfig) []string {
	var cut []string
	if len(dns.Servers) > maxNameservers {
		cut = append(cut, dns.Servers[maxNameservers:]...)
		dns.Servers = dns.Servers[:maxNameservers]
	}
	var kept []string
	length := -1 // the first domain has no space before it
	full := false
	for _, domain := range dns.Searches {
		if len(domain) > maxSearchLen {
			cut = append(cut, domain)
			continue
		}
		full = full || len(kept) == maxSearches || length+1+len(domain) > maxSearchesChar
		if full {
			cut = append(cut, domain)
			continue
		}
		kept = append(kept, domain)
		length += 1 + len(domain)
	}
	dns.Searches = kept
	return cut
}

// unique returns the entries in order without duplicates.
func unique(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// parseResolvConf reads the lines of a resolv.conf that pods need. As in the C library, the last
// search line is used, and options are accumulated.
func parseResolvConf(content string) *runtimeapi.DNSConfig {
	dns := &runtimeapi.DNSConfig{}
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "nameserver":
			dns.Servers = append(dns.Servers, fields[1])
		case "search":
			dns.Searches = nil
			for _, domain := range fields[1:] {
				if domain != "." {
					domain = strings.TrimSuffix(domain, ".")
				}
				dns.Searches = append(dns.Searches, domain)
			}
		case "options":
			for _, option := range fields[1:] {
				if !slices.Contains(dns.Options, option) {
					dns.Options = append(dns.Options, option)
				}
			}
		}
	}
	return dns
}
