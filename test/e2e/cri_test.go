//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// A pod in the host's network is reachable at the host's address.
func TestHostNetworkPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	p := n.run(t, podSpec{name: "host", hostNetwork: true, args: []string{"serve", "-port", strconv.Itoa(port), "-message", "on the host"}})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	answers(t, fmt.Sprintf("http://127.0.0.1:%d/", port), "on the host "+host+"\n")
	logged(t, p, fmt.Sprintf(" stdout F listening on [::]:%d\n", port))
	n.remove(t, p)
	logged(t, p, " stdout F received terminated\n")
}

// A pod with its own network is reachable at its address in the runtime's subnet, and at a port of
// the host.
func TestBridgedPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	p := n.run(t, podSpec{
		name:  "bridged",
		args:  []string{"serve", "-message", "from the pod"},
		ports: []*criapi.PortMapping{{Protocol: criapi.Protocol_TCP, ContainerPort: 8080, HostPort: int32(port)}},
	})
	address, err := netip.ParseAddr(n.address(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if !n.Subnet().Contains(address) {
		t.Errorf("the pod has address %s, want one in %s", address, n.Subnet())
	}
	answers(t, "http://"+address.String()+":8080/", "from the pod bridged\n")
	answers(t, fmt.Sprintf("http://127.0.0.1:%d/", port), "from the pod bridged\n")
	logged(t, p, " stdout F listening on [::]:8080\n")
	n.remove(t, p)
}

// Pods of one runtime reach each other.
func TestPodReachesPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	server := n.run(t, podSpec{name: "server"})
	url := "http://" + n.address(t, server) + ":8080/"
	answers(t, url, "hello from server\n")
	client := n.run(t, podSpec{name: "client", args: []string{"get", url}})
	logged(t, client, " stdout F hello from server\n")
}

// Stop removes the pods that still run, and their cgroups.
func TestStopTakesPodsAway(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	for i := range 3 {
		cgroup := ""
		if i > 0 {
			cgroup = fmt.Sprintf("/%s/burstable/pod%d", n.Name(), i)
		}
		p := n.run(t, podSpec{
			name: "forgotten-" + strconv.Itoa(i), args: []string{"serve", "-ignore-term"}, cgroup: cgroup,
			ports: []*criapi.PortMapping{{Protocol: criapi.Protocol_TCP, ContainerPort: 8080, HostPort: int32(freePort(t))}},
		})
		answers(t, "http://"+n.address(t, p)+":8080/", "hello from forgotten-"+strconv.Itoa(i)+"\n")
	}
	stopNode(t, n.Runtime)
	assertNoCgroup(t, n.Name())
}

// assertNoCgroup fails the test if a cgroup of that name is left at the top of any hierarchy.
func assertNoCgroup(t *testing.T, name string) {
	t.Helper()
	left, err := harness.CgroupsNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, cgroup := range left {
		t.Errorf("cgroup %s is left", cgroup)
	}
}
