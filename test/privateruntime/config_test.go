package privateruntime

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
)

func testInstance() instance {
	return instance{
		Name: "demo", Dir: "/srv/demo", Repository: "/src", Snapshotter: "native",
		Subnet: netip.MustParsePrefix("10.77.3.0/24"),
	}
}

func TestRenderConfig(t *testing.T) {
	text, err := renderConfig(testInstance(), "/usr/sbin/runc", "/usr/lib/cni", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"version = 3\n",
		`root = "/srv/demo/root"`,
		`state = "/run/wardlet-test/demo/state"`,
		`address = "/run/wardlet-test/demo/containerd.sock"`,
		`address = "/run/wardlet-test/demo/containerd.sock.ttrpc"`,
		`snapshotter = "native"`,
		`sandbox = "registry.wardlet.test/pause:1"`,
		`config_path = "/srv/demo/certs.d"`,
		"disable_apparmor = true",
		"restrict_oom_score_adj = true",
		"netns_mounts_under_state_dir = true",
		`BinaryName = "/usr/sbin/runc"`,
		`Root = "/run/wardlet-test/demo/runc"`,
		`bin_dirs = ["/usr/lib/cni"]`,
		`conf_dir = "/run/wardlet-test/demo/net.d"`,
		`socket_dir = "/run/wardlet-test/demo/s"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the configuration lacks %s", want)
		}
	}
}

func TestRenderNetwork(t *testing.T) {
	data, err := renderNetwork(testInstance())
	if err != nil {
		t.Fatal(err)
	}
	var read conflist
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if read.Name != "wardlet-test-demo" || len(read.Plugins) != 2 || read.Plugins[0].IPAM.Ranges[0][0].Subnet != "10.77.3.0/24" {
		t.Errorf("not the runtime's network: %s", data)
	}
}

// TestLimitsOfTheLongestName checks two limits: containerd limits the directory of shim sockets to
// 42 bytes, and the kernel names of links to 15 bytes.
func TestLimitsOfTheLongestName(t *testing.T) {
	longest := instance{Name: strings.Repeat("n", 20)}
	if err := checkName(longest.Name); err != nil {
		t.Fatal(err)
	}
	if got := len(longest.shimSockets()); got > 42 {
		t.Errorf("the directory of shim sockets has %d bytes, more than 42", got)
	}
	if got := len(longest.bridge()); got > 15 {
		t.Errorf("the bridge's name has %d bytes, more than 15", got)
	}
}

func TestCheckName(t *testing.T) {
	for name, valid := range map[string]bool{
		"default": true, "a": true, "t-123456789-1": true, "": false, "-a": false, "a-": false, "A": false, "a/b": false,
		"..": false, ".lock": false, strings.Repeat("n", 21): false,
	} {
		if err := checkName(name); (err == nil) != valid {
			t.Errorf("name %q: %v, want valid %v", name, err, valid)
		}
	}
}
