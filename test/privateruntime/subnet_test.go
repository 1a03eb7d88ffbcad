package privateruntime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestChooseSubnet(t *testing.T) {
	for _, c := range []struct {
		name string
		used []netip.Prefix
		want string
	}{
		{"nothing in use", nil, "10.77.0.0/24"},
		{"first taken", prefixes("10.77.0.0/24"), "10.77.1.0/24"},
		{"one address of it taken", prefixes("10.77.0.9/32", "10.77.1.0/25"), "10.77.2.0/24"},
		{"a gap", prefixes("10.77.0.0/24", "10.77.2.0/24"), "10.77.1.0/24"},
		{"a wide network over all of 10.77", prefixes("10.77.0.0/16"), "10.78.0.0/24"},
		{"a tunnel over all of 10", prefixes("10.0.0.0/8"), "172.30.0.0/24"},
		{"all but the last pool", prefixes("10.0.0.0/8", "172.16.0.0/12"), "192.168.0.0/24"},
		{"addresses of version 6", prefixes("fd00::/8"), "10.77.0.0/24"},
	} {
		got, err := chooseSubnet(c.used)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.name, got, err, c.want)
		}
	}
	if _, err := chooseSubnet(prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")); !errors.Is(err, errNoSubnet) {
		t.Errorf("everything in use: %v, want errNoSubnet", err)
	}
}

func TestParseRoutes(t *testing.T) {
	// The kernel prints each address as a number in the machine's byte order: 192.0.2.0 is 000200C0
	// on a little-endian machine.
	word := func(address string) string {
		raw := netip.MustParseAddr(address).As4()
		return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(raw[:]))
	}
	route := func(link, destination, gateway, mask string) string {
		return link + "\t" + word(destination) + "\t" + word(gateway) + "\t0001\t0\t0\t0\t" + word(mask) + "\t0\t0\t0\n"
	}
	table := "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		route("eth0", "0.0.0.0", "192.0.2.1", "0.0.0.0") +
		route("eth0", "192.0.2.0", "0.0.0.0", "255.255.255.0") +
		route("tun0", "10.0.0.0", "0.0.0.0", "255.0.0.0")
	got, err := parseRoutes(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	if want := prefixes("192.0.2.0/24", "10.0.0.0/8"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := parseRoutes(strings.NewReader("heading\na b c d e f g h\n")); err == nil {
		t.Error("a line without an address is no error")
	}
}
