package node

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDefaultIP(t *testing.T) {
	t.Parallel()
	const (
		header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
		lan    = "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
		out    = "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
		out6   = "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1\n"
	)
	addresses := func(name string) ([]net.IP, error) {
		switch name {
		case "eth0":
			return []net.IP{net.ParseIP("fe80::1"), net.ParseIP("fd00::1"), net.ParseIP("192.0.2.7")}, nil
		case "eth1":
			return []net.IP{net.ParseIP("192.0.2.8"), net.ParseIP("fe80::2"), net.ParseIP("2001:db8::8")}, nil
		}
		return nil, errors.New("no such interface")
	}
	for name, test := range map[string]struct{ route, route6, want, err string }{
		"IPv4":         {header + lan + out, "", "192.0.2.7", ""},
		"IPv6 only":    {header + lan, out6, "2001:db8::8", ""},
		"both":         {header + out, out6, "192.0.2.7", ""},
		"none":         {header + lan, "", "", "name one in cluster.node_ip"},
		"gone already": {strings.ReplaceAll(header+out, "eth0", "eth9"), "", "", "addresses of eth9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proc := t.TempDir()
			for file, text := range map[string]string{"route": test.route, "ipv6_route": test.route6} {
				if err := os.WriteFile(filepath.Join(proc, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ip, err := defaultIP(proc, addresses)
			if test.err == "" && (err != nil || ip.String() != test.want) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, %v; want %s%s", ip, err, test.want, test.err)
			}
		})
	}
}

func TestNamedIP(t *testing.T) {
	t.Parallel()
	held := []net.Addr{&net.IPNet{IP: net.ParseIP("127.0.1.1")}, &net.IPNet{IP: net.ParseIP("192.0.2.7")}, &net.IPNet{IP: net.ParseIP("fd00::1")}, &net.IPNet{IP: net.ParseIP("fe80::1")}}
	silent := &net.DNSError{Err: "no answer", IsTimeout: true}
	for name, test := range map[string]struct {
		node     string
		resolved []string
		err      error
		want     string // empty for none
		fails    bool
	}{
		"the name of one address":             {node: "edge", resolved: []string{"192.0.2.7"}, want: "192.0.2.7"},
		"IPv4 before IPv6":                    {node: "edge", resolved: []string{"fd00::1", "192.0.2.7"}, want: "192.0.2.7"},
		"IPv6":                                {node: "edge", resolved: []string{"fe80::1", "fd00::1"}, want: "fd00::1"},
		"an address of another machine":       {node: "edge", resolved: []string{"192.0.2.8"}},
		"the address of Debian's own name":    {node: "edge", resolved: []string{"127.0.1.1"}},
		"no such name":                        {node: "edge", err: &net.DNSError{IsNotFound: true}},
		"no answer":                           {node: "edge", err: silent, fails: true},
		"a name that is an address":           {node: "192.0.2.7", err: silent, want: "192.0.2.7"},
		"a name that is an address elsewhere": {node: "192.0.2.8", err: silent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolve := func(context.Context, string) (all []net.IPAddr, err error) {
				for _, text := range test.resolved {
					all = append(all, net.IPAddr{IP: net.ParseIP(text)})
				}
				return all, test.err
			}
			ip, err := namedIP(t.Context(), test.node, resolve, func() ([]net.Addr, error) { return held, nil })
			if got := ip.String(); (err != nil) != test.fails || got != test.want && (ip != nil || test.want != "") {
				t.Errorf("got %s, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestHeldIP(t *testing.T) {
	t.Parallel()
	network := func(text string) net.Addr { return &net.IPNet{IP: net.ParseIP(text), Mask: net.CIDRMask(24, 32)} }
	all := []net.Addr{network("127.0.0.1"), network("192.0.2.7"), network("::1"), network("fe80::1"), network("fd00::1")}
	for name, test := range map[string]struct {
		ip   string
		held []net.Addr
		err  error
		want string // empty for none
	}{
		"one of IPv4":      {ip: "192.0.2.7", held: all},
		"one of IPv6":      {ip: "fd00::1", held: all},
		"another one":      {ip: "192.0.2.8", held: all, want: "no interface of this machine has 192.0.2.8; those that they have are 192.0.2.7, fd00::1"},
		"no network":       {ip: "192.0.2.8", held: all[:1], want: "no interface of this machine has 192.0.2.8; they have none that a cluster could reach"},
		"no answer at all": {ip: "192.0.2.8", err: errors.New("no netlink"), want: "the addresses of this machine cannot be read: no netlink"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := heldIP(net.ParseIP(test.ip), func() ([]net.Addr, error) { return test.held, test.err })
			if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestOSImage(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "os-release")
	for text, want := range map[string]string{
		"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n": "Debian GNU/Linux 12",
		"PRETTY_NAME='Edge OS'\n":                          "Edge OS",
		"ID=other\n":                                       "Linux",
	} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := osImage(at+".none", at); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestSetConditions(t *testing.T) {
	t.Parallel()
	st := &v1.NodeStatus{}
	at := func(second int64) metav1.Time { return metav1.Unix(second, 0) }
	show := func() string {
		var all []string
		for _, c := range st.Conditions {
			all = append(all, string(c.Type)+"="+string(c.Status)+" since "+c.LastTransitionTime.UTC().Format("05"))
		}
		return strings.Join(all, ", ")
	}
	SetConditions(st, "the runtime is away", Pressure{}, at(1))
	want := "MemoryPressure=False since 01, DiskPressure=False since 01, PIDPressure=False since 01, Ready=False since 01"
	if got := show(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	SetConditions(st, "", Pressure{Disk: "full", PID: "no process can start"}, at(2))
	want = "MemoryPressure=False since 01, DiskPressure=True since 02, PIDPressure=True since 02, Ready=True since 02"
	if got := show(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
