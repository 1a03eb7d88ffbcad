package privateruntime

import (
	"slices"
	"strings"
)

// sharedChains are the chains that CNI's portmap plugin makes once and never removes.
var sharedChains = []string{"CNI-HOSTPORT-DNAT", "CNI-HOSTPORT-SETMARK", "CNI-HOSTPORT-MASQ"}

// findSharedChains returns those of them that are there, as "TABLE CHAIN".
func findSharedChains(tables []ruleTable) []string {
	var found []string
	for _, table := range tables {
		for _, chain := range table.chains {
			if slices.Contains(sharedChains, chain.name) {
				found = append(found, table.name+" "+chain.name)
			}
		}
	}
	return found
}

// planSharedRemoval returns the iptables-restore input that deletes the shared chains which were not there before the
// first runtime and serve no pod any more, with the rules that lead into them; empty when there are none.
func planSharedRemoval(tables []ruleTable, before []string) string {
	var plan strings.Builder
	for _, table := range tables {
		var chains, deletions []string
		for _, chain := range table.chains {
			if slices.Contains(sharedChains, chain.name) && !slices.Contains(before, table.name+" "+chain.name) {
				chains = append(chains, chain.name)
			}
		}
		for _, rule := range table.rules {
			// A rule in CNI-HOSTPORT-DNAT is a pod's: another runtime's CNI uses the chains by now.
			if strings.HasPrefix(rule, "-A CNI-HOSTPORT-DNAT ") {
				chains, deletions = nil, nil
				break
			}
			if slices.Contains(chains, jumpTarget(rule)) {
				deletions = append(deletions, strings.Replace(rule, "-A ", "-D ", 1))
			}
		}
		writePlan(&plan, table.name, deletions, chains)
	}
	return plan.String()
}
