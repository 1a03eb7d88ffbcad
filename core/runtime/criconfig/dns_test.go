package criconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type dnsParts struct{ Servers, Searches, Options []string }

func partsOf(dns *runtimeapi.DNSConfig) dnsParts {
	return dnsParts{dns.GetServers(), dns.GetSearches(), dns.GetOptions()}
}

func TestParseResolvConf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		want dnsParts
	}{
		"empty":                        {"", dnsParts{}},
		"comments and unknown words":   {"# nameserver 1.1.1.1\n;x\nsortlist 1\nnameserver\n", dnsParts{}},
		"servers in order":             {"nameserver 192.0.2.1\n\tnameserver  2001:db8::1  \n", dnsParts{Servers: []string{"192.0.2.1", "2001:db8::1"}}},
		"the last search line holds":   {"search a\nsearch b c.\n", dnsParts{Searches: []string{"b", "c"}}},
		"the root stays a dot":         {"search .\n", dnsParts{Searches: []string{"."}}},
		"options add up, without pair": {"options ndots:1 edns0\noptions edns0 rotate", dnsParts{Options: []string{"ndots:1", "edns0", "rotate"}}},
		"windows line ends":            {"nameserver 192.0.2.1\r\n", dnsParts{Servers: []string{"192.0.2.1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "parsed", tc.want, partsOf(parseResolvConf(tc.in)))
		})
	}
}

func FuzzParseResolvConf(f *testing.F) {
	f.Add("nameserver 192.0.2.1\nsearch a b.\noptions ndots:5\n")
	f.Add("search \n\noptions\tx")
	f.Fuzz(func(t *testing.T, in string) {
		dns := parseResolvConf(in)
		for _, s := range slices.Concat(dns.Servers, dns.Searches, dns.Options) {
			if strings.ContainsAny(s, " \t\n") {
				t.Errorf("%q from %q contains white space", s, in)
			}
		}
	})
}

func TestDNSPolicies(t *testing.T) {
	t.Parallel()
	node := dnsParts{[]string{"192.0.2.53"}, []string{"example.org", "corp.example.org"}, []string{"ndots:2", "edns0"}}
	own := &v1.PodDNSConfig{
		Nameservers: []string{"198.51.100.1", "192.0.2.53"},
		Searches:    []string{"pods.example.org", "example.org"},
		Options:     []v1.PodDNSConfigOption{{Name: "ndots", Value: new("5")}, {Name: "rotate"}, {Name: "debug", Value: new("")}},
	}
	for name, tc := range map[string]struct {
		spec    v1.PodSpec
		want    dnsParts
		reasons []string
	}{
		"Default is the node's":                         {v1.PodSpec{DNSPolicy: v1.DNSDefault}, node, nil},
		"ClusterFirst falls back to the node's":         {v1.PodSpec{DNSPolicy: v1.DNSClusterFirst}, node, nil},
		"ClusterFirst on the node's network is Default": {v1.PodSpec{DNSPolicy: v1.DNSClusterFirst, HostNetwork: true}, node, nil},
		"ClusterFirstWithHostNet falls back too":        {v1.PodSpec{DNSPolicy: v1.DNSClusterFirstWithHostNet, HostNetwork: true}, node, []string{"MissingClusterDNS"}},
		"None is only the pod's": {v1.PodSpec{DNSPolicy: v1.DNSNone, DNSConfig: own}, dnsParts{
			[]string{"198.51.100.1", "192.0.2.53"}, []string{"pods.example.org", "example.org"}, []string{"ndots:5", "rotate", "debug"},
		}, nil},
		"the pod's is merged last, options by name": {v1.PodSpec{DNSPolicy: v1.DNSDefault, DNSConfig: own}, dnsParts{
			[]string{"192.0.2.53", "198.51.100.1"}, []string{"example.org", "corp.example.org", "pods.example.org"}, []string{"ndots:5", "edns0", "rotate", "debug"},
		}, nil},
		"three servers at most": {v1.PodSpec{DNSPolicy: v1.DNSNone, DNSConfig: &v1.PodDNSConfig{Nameservers: []string{"1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"}}}, dnsParts{
			Servers: []string{"1.1.1.1", "2.2.2.2", "3.3.3.3"},
		}, []string{"DNSConfigForming"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := New(Config{ResolvConf: "testdata/resolv.conf"}, nil)
			got, notices, err := b.dnsConfig(&v1.Pod{Spec: tc.spec})
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "configuration", tc.want, partsOf(got))
			var reasons []string
			for _, n := range notices {
				reasons = append(reasons, n.Reason)
			}
			mustEqual(t, "notices", tc.reasons, reasons)
		})
	}
}

func TestDNSConfig_ofACluster(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.config.ClusterDNS, b.config.ClusterDomain = []string{"10.96.0.10"}, "cluster.local"
	cluster := dnsParts{
		[]string{"10.96.0.10"}, []string{"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "example.org", "corp.example.org"}, []string{"ndots:5"},
	}
	node := dnsParts{[]string{"192.0.2.53"}, []string{"example.org", "corp.example.org"}, []string{"ndots:2", "edns0"}}
	for name, test := range map[string]struct {
		policy      v1.DNSPolicy
		hostNetwork bool
		want        dnsParts
	}{
		"ClusterFirst":                       {v1.DNSClusterFirst, false, cluster},
		"ClusterFirst on the node's network": {v1.DNSClusterFirst, true, node},
		"ClusterFirstWithHostNet":            {v1.DNSClusterFirstWithHostNet, true, cluster},
		"Default":                            {v1.DNSDefault, false, node},
		"None":                               {v1.DNSNone, false, dnsParts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod("web")
			p.Spec.DNSPolicy, p.Spec.HostNetwork = test.policy, test.hostNetwork
			dns, notices, err := b.dnsConfig(p)
			if err != nil || len(notices) > 0 {
				t.Fatal(notices, err)
			}
			mustEqual(t, "configuration", test.want, partsOf(dns))
		})
	}
}

func TestDNSWithoutResolvConfLooksUpNothing(t *testing.T) {
	t.Parallel()
	got, _, err := New(Config{}, nil).dnsConfig(&v1.Pod{Spec: v1.PodSpec{DNSPolicy: v1.DNSDefault}})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "configuration", dnsParts{Servers: []string{"127.0.0.1"}, Searches: []string{"."}}, partsOf(got))

	b := New(Config{ResolvConf: "testdata/none"}, nil)
	if _, _, err := b.dnsConfig(&v1.Pod{}); err == nil || !strings.Contains(err.Error(), "testdata/none") {
		t.Errorf("error %v, want one that names the missing file", err)
	}
}

func TestSearchDomainsAreLimited(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("d%02d.example", i))
	}
	long := strings.Repeat
	for name, tc := range map[string]struct {
		in, kept, cut []string
	}{
		"32 domains":                      {many, many[:32], many[32:]},
		"253 characters each":             {[]string{"a", long("x", 254), "b", long("y", 253)}, []string{"a", "b", long("y", 253)}, []string{long("x", 254)}},
		"2048 characters with the spaces": {append(slices.Repeat([]string{long("x", 203)}, 10), "12345678"), append(slices.Repeat([]string{long("x", 203)}, 10), "12345678"), nil},
		"nothing after the first that did not fit": {
			append(slices.Repeat([]string{long("x", 203)}, 10), "123456789", "z"), slices.Repeat([]string{long("x", 203)}, 10), []string{"123456789", "z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dns := &runtimeapi.DNSConfig{Searches: slices.Clone(tc.in)}
			mustEqual(t, "cut", tc.cut, limitDNS(dns))
			mustEqual(t, "kept", tc.kept, dns.Searches)
		})
	}
}

func TestCheckResolvConf(t *testing.T) {
	t.Parallel()
	domains := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = "d" + strconv.Itoa(i) + ".example"
		}
		return "search " + strings.Join(names, " ") + "\n"
	}
	for name, test := range map[string]struct{ content, cluster, want string }{
		"a usual one":                 {"nameserver 192.0.2.1\nsearch example\n", "cluster.local", ""},
		"as many as there may be":     {domains(32), "", ""},
		"too many name servers":       {strings.Repeat("nameserver 192.0.2.1\n", 4), "", "left out: 192.0.2.1"},
		"too many domains":            {domains(33), "", "left out: d32.example"},
		"room for those of a cluster": {domains(29), "cluster.local", ""},
		"none for those of a cluster": {domains(30), "cluster.local", "left out: d29.example"},
		"a long domain":               {"search " + strings.Repeat("x", 254) + "\n", "", "left out: xxx"},
	} {
		path := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := CheckResolvConf(path, test.cluster)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if err := CheckResolvConf(filepath.Join(t.TempDir(), "gone"), ""); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a file that is not there: %v", err)
	}
}
