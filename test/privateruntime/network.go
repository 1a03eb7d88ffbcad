package privateruntime

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// conflist is a CNI network configuration list.
type conflist struct {
	CNIVersion string   `json:"cniVersion"`
	Name       string   `json:"name"`
	Plugins    []plugin `json:"plugins"`
}

// plugin is one entry of a list; it has only the fields in use here.
type plugin struct {
	Type         string          `json:"type"`
	Bridge       string          `json:"bridge,omitempty"`
	IsGateway    bool            `json:"isGateway,omitempty"`
	IPMasq       bool            `json:"ipMasq,omitempty"`
	HairpinMode  bool            `json:"hairpinMode,omitempty"`
	IPAM         *ipam           `json:"ipam,omitempty"`
	Capabilities map[string]bool `json:"capabilities,omitempty"`
}

type ipam struct {
	Type    string    `json:"type"`
	DataDir string    `json:"dataDir"`
	Ranges  [][]span  `json:"ranges"`
	Routes  []cniPath `json:"routes"`
}

type span struct {
	Subnet string `json:"subnet"`
}

type cniPath struct {
	Dst string `json:"dst"`
}

// renderNetwork returns the CNI configuration of a runtime: a bridge with addresses of its subnet,
// masqueraded towards the outside, and host ports. The version is 0.4.0 because the oldest packaged
// plugins support it.
func renderNetwork(i instance) ([]byte, error) {
	data, err := json.MarshalIndent(conflist{
		CNIVersion: "0.4.0",
		Name:       i.network(),
		Plugins: []plugin{
			{
				Type: "bridge", Bridge: i.bridge(), IsGateway: true, IPMasq: true, HairpinMode: true,
				IPAM: &ipam{
					Type:    "host-local",
					DataDir: i.addresses(),
					Ranges:  [][]span{{{Subnet: i.Subnet.String()}}},
					Routes:  []cniPath{{Dst: "0.0.0.0/0"}},
				},
			},
			{Type: "portmap", Capabilities: map[string]bool{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render the CNI network: %w", err)
	}
	return append(data, '\n'), nil
}

// allowForwarding lets the pods' packets through on a machine that forwards nothing by default, for
// example with Docker. On other machines it changes nothing. removeRules deletes the rules by their
// mark.
func (i instance) allowForwarding(ctx context.Context) error {
	tables, err := saveRules(ctx)
	if err != nil {
		return err
	}
	return applyRules(ctx, planForwarding(tables, i))
}

// planForwarding returns the iptables-restore input for allowForwarding; empty if packets are
// forwarded anyway.
func planForwarding(tables []ruleTable, i instance) string {
	blocks := func(table ruleTable) bool {
		return table.name == "filter" && slices.Contains(table.chains, ruleChain{"FORWARD", "DROP"})
	}
	if !slices.ContainsFunc(tables, blocks) {
		return ""
	}
	comment := `-m comment --comment "` + ruleMark(i.network()) + `id: \"bridge\""`
	return fmt.Sprintf("*filter\n-I FORWARD -i %[1]s %[2]s -j ACCEPT\n-I FORWARD -o %[1]s %[2]s -j ACCEPT\nCOMMIT\n", i.bridge(), comment)
}

// errNoSubnet reports that every candidate subnet is in use.
var errNoSubnet = errors.New("no free /24 in 10.77.0.0 to 10.99.255.255, 172.30.0.0/16 or 192.168.0.0/16: free one, or take runtimes down")

// candidates yields the subnets that a runtime may claim, in the order in which they are tried.
func candidates(yield func(netip.Prefix) bool) {
	for second := byte(77); second < 100; second++ {
		if !slash24s(10, second, yield) {
			return
		}
	}
	if slash24s(172, 30, yield) {
		slash24s(192, 168, yield)
	}
}

func slash24s(first, second byte, yield func(netip.Prefix) bool) bool {
	for third := range 256 {
		if !yield(netip.PrefixFrom(netip.AddrFrom4([4]byte{first, second, byte(third), 0}), 24)) {
			return false
		}
	}
	return true
}

// chooseSubnet returns the first candidate that overlaps nothing in use.
func chooseSubnet(used []netip.Prefix) (netip.Prefix, error) {
candidate:
	for subnet := range candidates {
		for _, other := range used {
			if subnet.Overlaps(other) {
				continue candidate
			}
		}
		return subnet, nil
	}
	return netip.Prefix{}, errNoSubnet
}

// usedSubnets returns the networks that the machine's routes and links reach, and those that other
// runtimes have claimed.
func usedSubnets() ([]netip.Prefix, error) {
	file, err := os.Open("/proc/net/route")
	if err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	defer func() { _ = file.Close() }()
	used, err := parseRoutes(file)
	if err != nil {
		return nil, err
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("read the links' addresses: %w", err)
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			used = append(used, prefix.Masked())
		}
	}
	names, err := listNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if other, err := readInstance(name); err == nil {
			used = append(used, other.Subnet)
		}
	}
	return used, nil
}

// parseRoutes returns the destinations in the kernel's IPv4 routing table, without the default
// route.
func parseRoutes(table io.Reader) ([]netip.Prefix, error) {
	var routes []netip.Prefix
	lines := bufio.NewScanner(table)
	lines.Scan() // the heading
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 {
			continue
		}
		destination, err := hostOrder(fields[1])
		if err != nil {
			return nil, err
		}
		mask, err := hostOrder(fields[7])
		if err != nil {
			return nil, err
		}
		if ones, _ := net.IPMask(mask[:]).Size(); ones > 0 {
			routes = append(routes, netip.PrefixFrom(netip.AddrFrom4(destination), ones))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	return routes, nil
}

// hostOrder decodes an address that the kernel printed as a number in the machine's byte order.
func hostOrder(text string) ([4]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return [4]byte{}, fmt.Errorf("read the routes: %q is not an address", text)
	}
	var address [4]byte
	binary.NativeEndian.PutUint32(address[:], binary.BigEndian.Uint32(raw))
	return address, nil
}
