package privateruntime

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
)

// errNoSubnet reports that every candidate is in use.
var errNoSubnet = errors.New("no free /24 in 10.77.0.0 to 10.99.255.255, 172.30.0.0/16 or 192.168.0.0/16: free one, or take runtimes down")

// candidates yields the subnets a runtime may claim, in the order they are tried.
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

// usedSubnets are the networks that the machine's routes and links reach, and those that other runtimes claimed.
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

// parseRoutes reads the destinations of the kernel's IPv4 routing table, the default route left out.
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
