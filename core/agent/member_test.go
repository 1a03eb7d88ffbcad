package agent

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/config"
)

func TestFindAddress_nodeIP(t *testing.T) {
	t.Parallel()
	find := func(address string) (string, error) {
		ip, err := (&Node{cfg: &config.Config{Cluster: config.Cluster{NodeIP: address}}}).findAddress()
		return ip.String(), err
	}
	if ip, err := find("127.0.0.1"); err != nil || ip != "127.0.0.1" {
		t.Errorf("one that an interface has: %s, %v", ip, err)
	}
	const want = "cluster.node_ip: no interface of this machine has 192.0.2.9; "
	if ip, err := find("192.0.2.9"); err == nil || !strings.HasPrefix(err.Error(), want) || ip != "<nil>" {
		t.Errorf("one that no interface has: %s, %v; want %s", ip, err, want)
	}
}
