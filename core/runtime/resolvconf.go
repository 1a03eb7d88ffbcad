package runtime

import (
	"slices"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// parseResolvConf reads the lines of a resolv.conf that matter for pods. As
// in the C library the last search line holds; options add up.
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
