package privateruntime

import (
	"strings"
	"testing"
)

func TestPlanTableRemoval(t *testing.T) {
	const chains = `table ip nat {
	chain PREROUTING {
		type nat hook prerouting priority dstnat; policy accept;
	}
	chain POSTROUTING {
		type nat hook postrouting priority srcnat; policy accept;
%	}
}
`
	const warned = "# Warning: table ip nat is managed by iptables-nft, do not touch!\n"
	for _, c := range []struct{ name, listing, want string }{
		{"no chains", "table ip nat {\n}\n", "delete table ip nat\n"},
		{
			"empty chains", warned + strings.Replace(chains, "%", "", 1),
			"delete chain ip nat PREROUTING\ndelete chain ip nat POSTROUTING\ndelete table ip nat\n",
		},
		{"a rule", strings.Replace(chains, "%", "\t\toifname eth0 masquerade\n", 1), ""},
		{"a policy", "table ip nat {\n\tchain INPUT {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n", ""},
		{"a set", "table ip nat {\n\tset allowed {\n\t\ttype ipv4_addr\n\t}\n}\n", ""},
	} {
		if got := planTableRemoval("ip nat", c.listing); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}
